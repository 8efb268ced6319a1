// Declares options that several commands share, by the heading of their group.
import { flag, list, text } from '../base/declare.ts'

export const DATA_OPTIONS = {
  data: text('FILE', 'trains on the rows of a file (.jsonl, .json, .csv, .tsv, .parquet, .txt)'),
  'val-data': text('FILE', 'holds out the rows of this file; without it a part of --data'),
  tokenizer: text(
    'NAME|FILE|DIR',
    'how rows become tokens: characters, arithmetic, letters, bytes, bpe or bpe:512, or a tokenizer.json',
  ),
  rows: list(
    'FIELD=VALUE',
    'what a row is, in place of what is proposed, such as every_turn=true; repeatable',
  ),
  'skip-bad-rows': flag('leaves out rows that cannot be used, and counts them'),
} as const

/** Fields of the experiment that are put in place of its own. */
export const CHANGE_OPTIONS = {
  set: list(
    'KEY=VALUE',
    'sets any field of the experiment, such as actor.optim.lr=1e-4; repeatable',
  ),
  seed: text('N', 'the seed of weights, problems and samples'),
} as const
