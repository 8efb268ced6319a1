// Predicts the end of a run from what it was at half time, by ridge regression: one half of the
// seeds fits, the other judges.

/** What each model knows of a run at half time. `entropies` has one number per layer, the embedding
 * first and the final policy last. */
export const FEATURES = {
  accuracy: ({ accuracy }) => [accuracy],
  'accuracy, entropy of the final policy': ({ accuracy, entropies }) => [
    accuracy,
    entropies.at(-1),
  ],
  'accuracy, entropies of inner layers': ({ accuracy, entropies }) => [
    accuracy,
    ...entropies.slice(0, -1),
  ],
  'accuracy, entropies of all layers': ({ accuracy, entropies }) => [accuracy, ...entropies],
}

const valueAt = (curve, step) => curve.find(([at]) => at === step)?.[1]

/** Finished runs that measured accuracy and every layer's entropy half way between the beginning of
 * reinforcement and its end (the measured step nearest to it), and accuracy at the end. */
export function rowsOf(results) {
  return results.flatMap(({ status, seed, begins, series }) => {
    const metric = Object.keys(series).find((name) => /acc\/mean@\d+$/.test(name))
    const layers = Object.keys(series)
      .flatMap((name) => /^layer\/entropy\/(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)
    if (status !== 'finished' || metric === undefined || layers.length === 0) return []
    const curve = series[metric]
    const [end, last] = curve.at(-1)
    const both = series['layer/entropy/0']
      .map(([step]) => step)
      .filter((step) => step > begins && step < end && valueAt(curve, step) !== undefined)
    const middle = (begins + end) / 2
    const [half] = both.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
    if (half === undefined) return []
    const entropies = layers.map((l) => valueAt(series[`layer/entropy/${l}`], half))
    if (entropies.some((value) => value === undefined)) return []
    return [{ seed, accuracy: valueAt(curve, half), entropies, end: last }]
  })
}

/** Solves A x = b for a symmetric positive definite A, by elimination. */
function solve(a, b) {
  const n = b.length
  const rows = a.map((row, i) => [...row, b[i]])
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++) {
      const factor = rows[j][i] / rows[i][i]
      for (let k = i; k <= n; k++) rows[j][k] -= factor * rows[i][k]
    }
  const x = new Array(n).fill(0)
  for (let i = n - 1; i >= 0; i--) {
    let sum = rows[i][n]
    for (let k = i + 1; k < n; k++) sum -= rows[i][k] * x[k]
    x[i] = sum / rows[i][i]
  }
  return x
}

const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length

/** A ridge regression on standardised features, whose intercept is not penalised. */
export function fitRidge(xs, ys, penalty) {
  const width = xs[0].length
  const columns = Array.from({ length: width }, (_, j) => xs.map((x) => x[j]))
  const centres = columns.map(mean)
  const scales = columns.map(
    (column, j) => Math.sqrt(mean(column.map((x) => (x - centres[j]) ** 2))) || 1,
  )
  const standard = (x) => x.map((value, j) => (value - centres[j]) / scales[j])
  const zs = xs.map(standard)
  const level = mean(ys)
  const a = centres.map((_, i) =>
    centres.map(
      (__, j) => zs.reduce((sum, z) => sum + z[i] * z[j], 0) + (i === j ? penalty * xs.length : 0),
    ),
  )
  const b = centres.map((_, i) => zs.reduce((sum, z, k) => sum + z[i] * (ys[k] - level), 0))
  const weights = solve(a, b)
  return (x) => level + standard(x).reduce((sum, z, j) => sum + z * weights[j], 0)
}

const PENALTIES = [0.001, 0.01, 0.1, 1, 10]

/** The penalty whose predictions of each left-out seed are best. */
function chosenPenalty(rows, featuresOf) {
  const seeds = [...new Set(rows.map(({ seed }) => seed))]
  const errors = PENALTIES.map((penalty) =>
    seeds.reduce((sum, seed) => {
      const kept = rows.filter((row) => row.seed !== seed)
      const predict = fitRidge(
        kept.map(featuresOf),
        kept.map(({ end }) => end),
        penalty,
      )
      const left = rows.filter((row) => row.seed === seed)
      return sum + left.reduce((s, row) => s + (predict(featuresOf(row)) - row.end) ** 2, 0)
    }, 0),
  )
  return PENALTIES[errors.indexOf(Math.min(...errors))]
}

/** Odd seeds fit, even ones judge: R² of each model on the latter, against the mean end of the
 * former. */
export function forecast(rows) {
  const fitting = rows.filter(({ seed }) => seed % 2 === 1)
  const judging = rows.filter(({ seed }) => seed % 2 === 0)
  const level = mean(fitting.map(({ end }) => end))
  const total = judging.reduce((sum, { end }) => sum + (end - level) ** 2, 0)
  const r2 = Object.entries(FEATURES).map(([name, featuresOf]) => {
    const penalty = chosenPenalty(fitting, featuresOf)
    const predict = fitRidge(
      fitting.map(featuresOf),
      fitting.map(({ end }) => end),
      penalty,
    )
    const left = judging.reduce((sum, row) => sum + (predict(featuresOf(row)) - row.end) ** 2, 0)
    return [name, 1 - left / total]
  })
  return { fitting: fitting.length, judging: judging.length, r2: Object.fromEntries(r2) }
}

/** Two-sided p that the mean of differences is 0, over all choices of their signs. */
export function signFlips(differences) {
  const own = Math.abs(mean(differences))
  const count = 2 ** differences.length
  let extreme = 0
  for (let bits = 0; bits < count; bits++) {
    const flipped = differences.map((x, i) => ((bits >> i) & 1 ? -x : x))
    if (Math.abs(mean(flipped)) >= own - 1e-12) extreme++
  }
  return extreme / count
}

const two = (x) => x.toFixed(2).replace('-', '−')

/** The page. */
export function forecastReport(found, models) {
  const [, final, inner, all] = models
  const compare = (name, other) => {
    const differences = found.map(({ r2 }) => r2[name] - r2[other])
    const better = differences.filter((x) => x > 0).length
    return `${name} against ${other}: mean difference of R² ${two(mean(differences))}, better in ${better} of ${found.length} studies, p ${signFlips(differences).toFixed(3)} (all choices of signs over studies)`
  }
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    '# Do early entropies of inner layers forecast a run?',
    'Do the entropies of inner layers’ policies at half time say more of the accuracy at a run’s end than the final policy’s entropy does?',
    `Every committed study with at least 40 finished runs that measured accuracy and all layers’ entropies half way. In each, runs with odd seeds fit a ridge regression (its penalty by leaving one seed out), runs with even seeds judge: R² against the mean of the former. This was fixed and committed before it was first computed; the runs are older, so nothing of them was chosen for it. \`npm run forecast\` writes this page from the committed runs.`,
    `- ${compare(inner, final)}.\n- ${compare(all, final)}.\n- ${compare(final, 'accuracy')}.`,
    [
      line(['study', 'runs that fit', 'that judge', ...models.map((name) => `R²: ${name}`)]),
      line(['---', '---', '---', ...models.map(() => '---')]),
      ...found.map(({ name, fitting, judging, r2 }) =>
        line([name, fitting, judging, ...models.map((model) => two(r2[model]))]),
      ),
    ].join('\n'),
    'Limits: runs of one study share starts by seed and settings by arm, so they are not independent; studies share models and tasks; half time is the only moment that all measured.',
    '',
  ].join('\n\n')
}
