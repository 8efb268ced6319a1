// Fills the numbers of studies into a text: {{study|arm|what}}, where an arm may be named by how it
// begins. Whatever is not there is an error, so no text outlives its numbers.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { armsRows, armsTable } from '../study_said.mjs'

/** The rows of a table with quoted cells, as objects by the names of its head. */
export function csvRows(text) {
  const lines = text.trim().split('\n')
  // A comma before the line gives every cell one.
  const cellsOf = (line) =>
    [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
      quoted === undefined ? plain : quoted.replaceAll('""', '"'),
    )
  const names = cellsOf(lines[0])
  return lines.slice(1).map((line) => {
    const cells = cellsOf(line)
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]))
  })
}

const points = (text) => (text === '' ? 'NaN' : (100 * Number(text)).toFixed(1).replace('-', '−'))
const signed = (text) => (Number(text) > 0 ? `+${points(text)}` : points(text))
const p = (value) => {
  const number = Number(value)
  return number < 0.001 ? '< 0.001' : number.toFixed(number < 0.1 ? 3 : 2)
}

/** What can be said of an arm, by name. */
function armWords(row, differences, gain, { equivalenceTest, tInterval }) {
  const verdicts = { none: 'no difference found', equal: 'equal', better: 'better', worse: 'worse' }
  const interval90 = () => {
    const { low, high } = tInterval(differences, 0.9)
    return `[${signed(low)}, ${signed(high)}]`
  }
  return {
    arm: () => row.arm,
    seeds: () => row.seeds,
    mean: () => `${points(row.mean)} %`,
    sd: () => points(row.deviation),
    difference: () =>
      `${signed(row.difference)} [${signed(row.difference_low)}, ${signed(row.difference_high)}]`,
    /** The mean as measured, for what is no share: '1.94'. */
    value: () => Number(row.mean).toFixed(2).replace('-', '−'),
    /** Since its phases that are compared began, in the report's unit. */
    gain: () => gain,
    p: () => p(row.p_holm),
    verdict: () => verdicts[row.verdict] ?? row.verdict,
    needed: () => (row.seeds_needed === '' ? 'more than 1,000' : row.seeds_needed),
    /** After the fact, of studies that name no margin: p of two one-sided tests at 3 points. */
    equal3: () => p(equivalenceTest(differences, 0.03)),
    /** As the report has it, after Holm. */
    equal: () => p(row.p_equal),
    interval90,
  }
}

/** What each arm gained, by its name. */
function gainsOf(report, measure) {
  const [head, , ...rows] = armsRows(report, measure)
  const column = head.findIndex((name) => name.startsWith('gain'))
  return new Map(rows.map((cells) => [cells[0], cells[column]]))
}

/** The numbers of one study from its files, by one of its primary measures. */
export function studyNumbers(files, statistics, measure = 1) {
  const rows = csvRows(files['table.csv'])
  const runs = csvRows(files['runs.csv'])
  const report = files['report.md']
  const gains = gainsOf(report, measure)
  const baseline = rows.find(({ difference }) => difference === '')
  const valuesOf = (arm) =>
    new Map(runs.filter((run) => run.arm === arm).map(({ seed, value }) => [seed, Number(value)]))
  const against = valuesOf(baseline?.arm)
  const arms = rows.map((row) => {
    const bySeed = new Map(
      [...valuesOf(row.arm)].flatMap(([seed, value]) =>
        against.has(seed) ? [[seed, value - against.get(seed)]] : [],
      ),
    )
    const words = armWords(row, [...bySeed.values()], gains.get(row.arm), statistics)
    return { name: row.arm, bySeed, words }
  })
  const [, count, adapter] = /^(\d+) runs on (.+?); seeds/m.exec(report) ?? []
  const answer = /^\*\*(.+)\*\*$/m.exec(report)?.[1]
  // Which difference its seeds find in four of five studies, as found and as expected.
  const [, power] = /^- Power: .*?find a difference of ([\d.]+) points/m.exec(report) ?? []
  const [, expected] = /^- Expected before the runs: .*?find ([\d.]+) points/m.exec(report) ?? []
  return { arms, table: armsTable(report, measure), count, adapter, answer, power, expected }
}

/** All studies of a folder that have tables, by name; by a further primary measure as `name#2` and
 * so on. `statistics`: those of src/document/study. */
export function readStudies(folder, statistics) {
  const fileOf = (name, kind, which) => join(folder, name, `${kind}${which}.csv`)
  const studies = readdirSync(folder).flatMap((name) =>
    [1, 2, 3, 4].flatMap((measure) => {
      const which = measure === 1 ? '' : `_${measure}`
      if (!existsSync(fileOf(name, 'table', which))) return []
      const read = (path) => readFileSync(path, 'utf8')
      const files = {
        'table.csv': read(fileOf(name, 'table', which)),
        'runs.csv': read(fileOf(name, 'runs', which)),
        'report.md': read(join(folder, name, 'report.md')),
      }
      const id = measure === 1 ? name : `${name}#${measure}`
      return [[id, studyNumbers(files, statistics, measure)]]
    }),
  )
  const forecast = join(folder, 'forecast/report.md')
  return Object.assign(new Map(studies), {
    statistics,
    ...(existsSync(forecast) && { forecast: readFileSync(forecast, 'utf8') }),
  })
}

const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length

/** The mean of several studies' differences, each with its variance, and its 95 % interval: random
 * effects (DerSimonian and Laird 1986) with the interval of Hartung and Knapp (2001). */
export function pooledEffect(effects, studentQuantile) {
  const sums = (weights) => ({
    total: weights.reduce((sum, w) => sum + w, 0),
    centre: weights.reduce((sum, w, i) => sum + w * effects[i].mean, 0),
  })
  const fixed = effects.map(({ variance }) => 1 / variance)
  const { total, centre } = sums(fixed)
  const spread = effects.reduce((q, { mean: y }, i) => q + fixed[i] * (y - centre / total) ** 2, 0)
  const squares = fixed.reduce((sum, w) => sum + w * w, 0)
  const k = effects.length
  const between = Math.max(0, (spread - (k - 1)) / (total - squares / total))
  const weights = effects.map(({ variance }) => 1 / (variance + between))
  const random = sums(weights)
  const pooled = random.centre / random.total
  const rest = effects.reduce((sum, { mean: y }, i) => sum + weights[i] * (y - pooled) ** 2, 0)
  const error = Math.sqrt(rest / ((k - 1) * random.total))
  const half = studentQuantile(0.975, k - 1) * error
  return { mean: pooled, low: pooled - half, high: pooled + half }
}

/** What all arms whose name begins so differ from their baseline, over the studies named: the mean
 * over a study's arms by seed is one effect. */
function pooledWords(studies, names, begins, { studentQuantile }) {
  const effects = names.split(',').map((name) => {
    const study = studies.get(name.trim())
    if (!study) throw new Error(`pooled: docs/studies/${name} has no table`)
    const own = study.arms.filter((arm) => arm.name.startsWith(begins))
    const seeds = [...new Set(own.flatMap(({ bySeed }) => [...bySeed.keys()]))]
    const values = seeds.map((seed) =>
      mean(own.flatMap(({ bySeed }) => (bySeed.has(seed) ? [bySeed.get(seed)] : []))),
    )
    const centre = mean(values)
    const squares = values.reduce((sum, x) => sum + (x - centre) ** 2, 0)
    return { mean: centre, variance: squares / (values.length - 1) / values.length }
  })
  const { mean: centre, low, high } = pooledEffect(effects, studentQuantile)
  return `${signed(centre)} [${signed(low)}, ${signed(high)}]`
}

/** What the forecast says of one model: the lines of its page, which tools/forecast.mjs writes. */
function forecastWords(page, which) {
  const begins = {
    inner: 'accuracy, entropies of inner layers against',
    all: 'accuracy, entropies of all layers against',
    final: 'accuracy, entropy of the final policy against accuracy:',
  }[which]
  const line = page.split('\n').find((one) => one.startsWith(`- ${begins}`))
  const [, said] = /: mean (difference of R² .+?) \(all choices/.exec(line ?? '') ?? []
  if (said === undefined)
    throw new Error(`{{forecast|${which}}}: docs/studies/forecast has no such line`)
  return said
}

function value(studies, wanted) {
  const [name, arm, what] = wanted.split('|').map((part) => part.trim())
  if (name === 'forecast') return forecastWords(studies.forecast ?? '', arm)
  if (name === 'pooled') return pooledWords(studies, arm, what, studies.statistics)
  const study = studies.get(name)
  if (!study) throw new Error(`{{${wanted}}}: docs/studies/${name} has no table`)
  if (what === undefined) {
    const found = {
      table: study.table,
      runs: study.count,
      adapter: study.adapter,
      answer: study.answer,
      power: study.power,
      expected: study.expected,
    }
    if (found[arm] === undefined)
      throw new Error(
        `{{${wanted}}}: expected table, runs, adapter, answer, power or expected, and its report to have it`,
      )
    return found[arm]
  }
  const exact = study.arms.filter((one) => one.name === arm)
  const named =
    exact.length > 0 ? exact : study.arms.filter((one) => one.name.startsWith(`${arm}, `))
  if (named.length !== 1) throw new Error(`{{${wanted}}}: ${named.length} arms of this name`)
  const say = named[0].words[what]
  if (!say)
    throw new Error(`{{${wanted}}}: expected one of ${Object.keys(named[0].words).join(', ')}`)
  const text = say()
  if (/NaN|undefined/.test(text)) throw new Error(`{{${wanted}}}: the table does not have it`)
  return text
}

/** The text with its numbers. */
export const filled = (text, studies) =>
  text.replace(/\{\{([^}]+)\}\}/g, (_, wanted) => value(studies, wanted))

/** The page with what is known between its markers. */
export const withKnown = (page, known) =>
  page.replace(
    /<!-- known -->[\s\S]*?<!-- end known -->/,
    () => `<!-- known -->\n\n${known.trim()}\n\n<!-- end known -->`,
  )
