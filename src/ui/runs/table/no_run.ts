// Tells a file that is no log, where a run was asked for, by its name and its first bytes.
import { HEAD_BYTES, logReader } from '../../../jobs/logs/read_log.ts'
import { isData } from '../../data/open_data.ts'
import { foreignProblem } from '../../kit/foreign.ts'
import { zipHolds } from '../imports/zip_logs.ts'

/** What a file is instead, in a sentence; `offer`: what a button that opens it says. */
export interface NoRun {
  readonly seems: string
  readonly offer?: string
}

const ANYHOW = 'Open it all the same'

/** By the ending alone. A program is not offered: opened, it would become the reward of the
 * settings, which nobody sees from here. */
const BY_NAME: readonly (readonly [ending: RegExp, is: NoRun])[] = [
  [
    /\.(js|mjs|py)$/i,
    {
      seems:
        'It is a program, not a run. To score answers with it, drop it on the page, or press “Compose…” beside Reward in the settings.',
    },
  ],
  [/\.safetensors$/i, { seems: 'It seems to be a checkpoint or a model.', offer: ANYHOW }],
]

function dataSeems(name: string): string {
  if (/\.(txt|text|md)$/i.test(name))
    return 'It seems to be text: it has no line that verl or TRL prints.'
  return /\.(csv|tsv|jsonl|ndjson)$/i.test(name)
    ? 'It seems to be rows to train on: it does not count steps.'
    : 'It seems to be rows to train on.'
}

/** What JSON is that is neither rows nor a log; `isWhole`: nothing of it was left unread. */
function jsonSeems(text: string, isWhole: boolean): string {
  try {
    if (isWhole) JSON.parse(text)
  } catch (error) {
    return `It is not valid JSON: ${error instanceof Error ? error.message : error}.`
  }
  return /"phases"\s*:/.test(text) && /"task"\s*:/.test(text)
    ? 'It seems to be the settings of an experiment, without the numbers of a run.'
    : 'It is JSON without a list “log_history”, which the trainer_state.json of TRL has.'
}

const BUNDLE: NoRun = {
  seems: 'It is a bundle: an experiment with its files, and no run.',
  offer: ANYHOW,
}

/** The logs that a file is or holds, or what it is instead. */
export async function logsIn(file: File): Promise<{ readonly logs: readonly File[] } | NoRun> {
  if (!/\.zip$/i.test(file.name)) return (await noRun(file)) ?? { logs: [file] }
  const holds = await zipHolds(file)
  if ('files' in holds) return { logs: holds.files }
  return 'isBundle' in holds ? BUNDLE : holds
}

/** Undefined for what the readers of logs are to try. */
async function noRun(file: File): Promise<NoRun | undefined> {
  const known = BY_NAME.find(([ending]) => ending.test(file.name))
  if (known) return known[1]
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
  const reader = logReader(file.name, head)
  // A reader of bytes says itself what is wrong; answers of a validation look like rows.
  if (reader === 'tensorboard' || reader === 'generations') return undefined
  const foreign = await foreignProblem(file)
  if (foreign !== undefined) return { seems: foreign }
  if (await isData(file)) return { seems: dataSeems(file.name), offer: 'Open it as data' }
  if (reader) return undefined
  const seems = /\.json$/i.test(file.name)
    ? jsonSeems(new TextDecoder().decode(head), head.length === file.size)
    : 'It is of no kind that is known here.'
  return { seems, offer: ANYHOW }
}
