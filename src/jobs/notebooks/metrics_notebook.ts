// Writes the metrics of a run as a table, and a notebook that reads it with pandas and draws its
// curves.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { jsonFile, type OutFile, textFile } from '../../formats/out_file.ts'
import { csvCell, markdownText } from '../../formats/text_tables.ts'
import { type MetricColumns, metricsCsv } from '../../record/files/metrics_file.ts'
import { JobError } from '../settings/job_error.ts'
import { notebookFile } from './notebook.ts'
import template from './templates/metrics.py?raw'

/** Charts in the order in which they are drawn; each takes the metrics that its pattern finds. */
const CHARTS: readonly (readonly [title: string, metrics: RegExp])[] = [
  ['Reward of sampled responses', /^(critic\/score\/mean|task\/score\/mean)$/],
  ['Held-out accuracy', /^val-(core|aux)\/.+\/(acc|reward)\/(mean@\d+|greedy)$/],
  [
    'Held-out pairs in the preferred order',
    /^(reward_model\/held_out_accuracy|eval_rewards\/accuracies)$/,
  ],
  ['Entropy of each layer’s policy (nats)', /^layer\/entropy\/\d+$/],
  ['Entropy of the policy (nats)', /^actor\/entropy$/],
  ['Loss', /^(train|actor|reward_model|preference|distillation)\/(pg_)?loss$/],
  ['KL (nats per token)', /^actor\/(ppo_kl|kl_loss|reward_kl_penalty)$/],
  ['Share of clipped ratios', /^actor\/pg_clipfrac$/],
  ['Gradient norm', /^(train|actor|reward_model)\/grad_norm$/],
  ['Response length (tokens)', /^response_length\/mean$/],
]
/** Lines that one chart can hold and still be read. */
const MOST_LINES = 40

/** Columns in the order of their layers, other names as they come. */
const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })

/** The charts of a run: those of the list, else the first columns that it has. */
function chartsOf(names: readonly string[]): Record<string, string[]> {
  const drawn = CHARTS.map(([title, wanted]): [string, string[]] => [
    title,
    names
      .filter((name) => wanted.test(name))
      .sort(byNumber)
      .slice(0, MOST_LINES),
  ]).filter(([, found]) => found.length > 0)
  if (drawn.length > 0) return Object.fromEntries(drawn)
  // The name of a column that a spreadsheet would take for a formula is written otherwise.
  const plain = names.filter((name) => csvCell(name) === name)
  return Object.fromEntries(plain.slice(0, 8).map((name) => [name, [name]]))
}

/** JSON of texts and lists of them is Python too. */
const pythonCharts = (charts: Readonly<Record<string, readonly string[]>>): string =>
  `{\n${Object.entries(charts)
    .map(([title, names]) => `    ${JSON.stringify(title)}: ${JSON.stringify(names)},`)
    .join('\n')}\n}`

/** What is written. */
interface MetricsOf {
  readonly series: MetricColumns
  /** The name of the run. */
  readonly title: string
  /** What it trained; undefined for a log from elsewhere. */
  readonly experiment?: Experiment
  /** The lab's version. */
  readonly understory: string
}

/** metrics.csv, metrics.ipynb, the experiment where it is known, and the mark of the lab. Throws
 * JobError for a run without metrics. */
export function metricsExport({ series, title, experiment, understory }: MetricsOf): OutFile[] {
  const measured = [...series].filter(([, { length }]) => length > 0)
  if (measured.length === 0)
    throw new JobError('There are no metrics to draw: nothing was trained yet')
  const notebook = notebookFile('metrics.ipynb', template, {
    title: markdownText(title),
    about: `Metrics of a run, written by Understory ${understory}.`,
    charts: pythonCharts(chartsOf(measured.map(([name]) => name))),
  })
  const table = textFile('metrics.csv', metricsCsv(new Map(measured)))
  return [
    table,
    notebook,
    ...(experiment ? [jsonFile('experiment.json', experiment)] : []),
    jsonFile('understory.json', { format: 'understory-metrics-1', understory }),
  ]
}
