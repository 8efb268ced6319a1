// lab patch: finds where the answer travels. States of one text are put into the pass over another,
// place by place and token by token.
import type { Recovery } from '../../rl/train/touched/patching.ts'
import { type Touched, type TouchWork, touchModels } from '../../rl/train/touched/touch.ts'
import { type Command, UsageError } from '../base/command.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readArguments } from '../options/read.ts'
import { isModelFolder, modelFolder } from './model_folder.ts'
import { asFailure, openPlanned, readTouchable } from './touchable.ts'

const LINE = commandLine({
  name: 'patch',
  takes: '<checkpoint>',
  summary: 'where an answer travels: states of a clean text in the pass over a corrupted one',
  notes: [
    'A checkpoint is a file of one, the folder of a run (then its newest), or the folder of a Hugging Face model, whose problems --data brings. Without texts the pairs are held-out problems of its task.',
  ],
  groups: {
    Options: {
      clean: text('TEXT', 'the text whose answer is to come back'),
      corrupted: text('TEXT', 'the text that is read: as many tokens as the clean one'),
      pairs: usually('8', 'N', 'pairs of held-out problems at most'),
      layers: text('LIST', 'exchanges states after these numbers of blocks alone, such as 0,4,8'),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them, or those that a Hugging Face model is asked',
      ),
      out: text('FILE', 'writes every number as JSON, too'),
    },
  },
  examples: ['patch runs/grpo', "patch runs/grpo --clean '3+4=' --corrupted '3+5='"],
})

type Patched = Extract<Touched, { what: 'patching' }>

export const patchCommand: Command = {
  line: LINE,
  run: async (args) => {
    const { path, work, data, out } = readOptions(args)
    const isTyped = 'texts' in work && data === undefined && isModelFolder(path)
    const model = await (isTyped ? modelFolder(path, work.texts) : readTouchable(path, data))
    const touched = await touchModels(await openPlanned(path), work, [model], () => {}).catch(
      asFailure(path),
    )
    if (touched.what !== 'patching') return 1
    printMap(touched)
    if (out !== undefined) replaceFile(out, `${JSON.stringify(touched, undefined, 2)}\n`)
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('patch takes one checkpoint')
  const { clean, corrupted, layers, data, out } = values
  if ((clean === undefined) !== (corrupted === undefined))
    throw new UsageError('--clean and --corrupted: expected both texts or neither')
  const pairs = Number(values.pairs)
  if (!Number.isInteger(pairs) || pairs < 1)
    throw new UsageError(`--pairs: expected a whole number of at least 1, got ${values.pairs}`)
  const work: Extract<TouchWork, { what: 'patching' }> = {
    what: 'patching',
    ...(layers !== undefined && { layers: layers.split(',').map(Number) }),
    ...(clean !== undefined && corrupted !== undefined ? { texts: [clean, corrupted] } : { pairs }),
  }
  return { path: positionals[0], work, data, out }
}

const placeName = ({ where, layer, head }: Recovery): string =>
  `${where} ${layer}${head === undefined ? '' : `, head ${head}`}`

/** A row for each place, a column for each token: the share of the clean answer, in percent. */
function printMap({ step, patching, texts }: Patched): void {
  const { pairs, tried, logit_diff, places } = patching
  const [{ clean, corrupted, answer, wrong }] = pairs
  print(
    `step ${step}, ${pairs.length} of ${tried} pairs; clean ${textOf(clean, texts)} → ${texts[answer]}, corrupted ${textOf(corrupted, texts)} → ${texts[wrong]}`,
  )
  print(
    `logit of the clean answer less that of the other: ${logit_diff.clean.toFixed(2)} clean, ${logit_diff.corrupted.toFixed(2)} corrupted`,
  )
  print('% of the difference that comes back with one state of the clean text, by token')
  const cells = (all: readonly string[]) => all.map((cell) => cell.padStart(6)).join('')
  print(`  ${''.padEnd(22)}${cells(clean.map((id) => texts[id]))}`)
  for (const place of places) {
    const shares = place.recovery.map((x) => `${Math.round(100 * x)}`)
    print(`  ${placeName(place).padEnd(22)}${cells(shares)}`)
  }
}

const textOf = (ids: readonly number[], texts: Patched['texts']) =>
  JSON.stringify(ids.map((id) => texts[id]).join(''))
