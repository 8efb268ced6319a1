// Writes the page of docs/studies/transplants from its numbers: what a start gains from the blocks
// of each arm, what the arms gain from one another, and what a part is worth to each.

/** Student's t for 95 % both ways, by degrees of freedom. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

const signed = (x) => `${x > 0 ? '+' : ''}${x.toFixed(1)}`.replace('-', '−')

/** Mean of numbers of one per seed with their 95 % t interval, in points. */
export function ofSeeds(values) {
  const n = values.length
  if (n === 0) return ''
  const mean = values.reduce((sum, x) => sum + x, 0) / n
  if (n < 2) return signed(100 * mean)
  const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1))
  const half = (T95[Math.min(n - 2, T95.length - 1)] * deviation) / Math.sqrt(n)
  const [low, high] = [mean - half, mean + half]
  return `${signed(100 * mean)} [${signed(100 * low)}, ${signed(100 * high)}]`
}

const table = (rows) =>
  [rows[0], rows[0].map(() => '---'), ...rows.slice(1)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

const changeOf = (exchange, part) =>
  exchange.mixtures.find(({ name }) => name === part)?.change ?? Number.NaN

/** The changes of a host by one part, one per seed. */
const changes = (exchanges, way, part) =>
  exchanges.map((one) => changeOf(one[way], part)).filter(Number.isFinite)

/** What the start gains with parts of each arm at one step. */
function startTable(plan, exchanges, kind) {
  const arms = Object.keys(plan.arms)
  const layers = plan.base.model.num_hidden_layers
  const heads = arms.map((arm) => `start with ${kind} k of ${arm}`)
  const rows = Array.from({ length: layers }, (_, k) => [
    `${k + 1}`,
    ...arms.map((arm) => {
      const own = exchanges.filter(({ of, and }) => of === arm && and === 'start')
      return ofSeeds(changes(own, 'into_second', `${kind} ${k + 1}`))
    }),
  ])
  return table([['k', ...heads], ...rows])
}

/** What each arm gains with a block of the other. */
function betweenTable(plan, exchanges) {
  const [a, b] = Object.keys(plan.arms)
  const between = exchanges.filter(({ of, and }) => of === a && and === b)
  const layers = plan.base.model.num_hidden_layers
  const parts = Array.from({ length: layers }, (_, k) => `blocks up to ${k + 1}`)
  return table([
    ['part', `${a} with it of ${b}`, `${b} with it of ${a}`],
    ...[...parts, 'norm', 'embedding', 'everything'].map((part) => [
      part,
      ofSeeds(changes(between, 'into_first', part)),
      ofSeeds(changes(between, 'into_second', part)),
    ]),
  ])
}

/** What switching each block off costs each arm. */
function offTable(plan, parts) {
  const arms = Object.keys(plan.arms)
  const layers = plan.base.model.num_hidden_layers
  const costs = (arm, layer) =>
    parts
      .filter((one) => one.arm === arm)
      .flatMap(({ parts: { parts: found } }) =>
        found.filter((part) => part.where === 'block' && part.layer === layer),
      )
      .map(({ reward }) => reward.mean)
  return table([
    ['block', ...arms],
    ...Array.from({ length: layers }, (_, k) => [
      `${k + 1}`,
      ...arms.map((arm) => ofSeeds(costs(arm, k + 1))),
    ]),
  ])
}

/** Accuracies of the start and of the arms, and how much the trained prefix carries. */
function summary(plan, exchanges, step) {
  const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length
  const says = Object.keys(plan.arms).map((arm) => {
    const own = exchanges.filter((one) => one.of === arm && one.and === 'start')
    const [end, start] = ['host', 'donor'].map((which) =>
      mean(own.map(({ into_first }) => into_first.accuracy[which])),
    )
    const gains = ofSeeds(own.map(({ into_first: { accuracy } }) => accuracy.host - accuracy.donor))
    return `${arm} ${(100 * end).toFixed(1)} % from ${(100 * start).toFixed(1)} % (${gains} points)`
  })
  return `Greedy held-out accuracy after step ${step}: ${says.join('; ')}.`
}

/** The page. `results` are those that tools/transplants.mjs keeps. */
export function transplantsReport(plan, { adapter, exchanges, parts }) {
  const { name, question, seeds, problems, steps } = plan
  const sections = steps.flatMap((step) => {
    const own = exchanges.filter((one) => one.step === step)
    const off = parts.filter((one) => one.step === step)
    return [
      `## After step ${step}`,
      summary(plan, own, step),
      startTable(plan, own, 'blocks up to'),
      startTable(plan, own, 'block'),
      betweenTable(plan, own),
      ...(off.length > 0
        ? ['Reward without each block, as a difference:', offTable(plan, off)]
        : []),
    ]
  })
  return [
    `# ${name}`,
    question,
    `${seeds.length} seeds (${seeds.join(', ')}) on ${adapter}; ${problems} held-out problems, answered greedily. A number is the change of the host's accuracy in points, the mean over the seeds with its 95 % t interval. [bench/transplants.json](../../../bench/transplants.json) was written before the runs; \`npm run transplants\` repeats them.`,
    ...sections,
    '',
  ].join('\n\n')
}
