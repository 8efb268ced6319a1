// Names the kinds of logs for the page and the command line, without the readers.

/** The kinds of logs that can be read, as people call them. */
export const LOG_KINDS = {
  verl: 'verl’s file logger',
  lab: 'the lab’s own metrics',
  trl: 'TRL’s trainer_state.json',
  tensorboard: 'TensorBoard’s event file',
  generations: 'verl’s validation generations',
  verl_console: 'verl’s console log',
  trl_console: 'TRL’s console log',
  json_lines: 'JSON lines',
  csv: 'a CSV table',
  wandb: 'an export of Weights & Biases',
} as const
export type LogKind = keyof typeof LOG_KINDS

/** 'TRL’s console log' for the kind that a record has; the kind itself where this version does not
 * know it. */
export const logKindWords = (kind: string): string =>
  (LOG_KINDS as Readonly<Record<string, string>>)[kind] ?? kind

/** What can be imported, for a sentence. */
export const CAN_IMPORT =
  'Logs can be imported: what verl or TRL print on a console (.log, .txt, .out), metrics.jsonl of verl or of the lab, other JSON lines and CSV tables with a column of steps, exports of Weights & Biases, trainer_state.json of TRL, event files of TensorBoard, and the folder of verl’s validation generations.'
