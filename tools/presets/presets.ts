// lab presets: runs the presets, keeps a row of figures for each run, and writes what the menu and
// the docs say of them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Command, LabFailure, UsageError } from '../../src/cli/base/command.ts'
import { commandLine, text, usually } from '../../src/cli/base/declare.ts'
import { projectRoot } from '../../src/cli/base/project_root.ts'
import { print } from '../../src/cli/base/terminal.ts'
import { readArguments } from '../../src/cli/options/read.ts'
import { checkpointFolder } from '../../src/cli/output/checkpoint_files.ts'
import { train } from '../../src/cli/train/train.ts'
import { PRESETS } from '../../src/document/presets/presets.ts'
import { type AllRows, catalogue, measuredExperiment, sourceOf } from './catalogue.ts'
import { figuresText } from './figures.ts'
import {
  finishedFacts,
  folderExperiment,
  type PresetRows,
  type PresetRun,
  readPresetRun,
  settingsOf,
} from './preset_run.ts'
import { withTables } from './tables.ts'

const RUNS = 'runs/presets'
const SEEDS = '1,2,3'

const LINE = commandLine({
  name: 'presets',
  takes: '[preset id …]',
  summary: 'trains every preset with its seeds, for the gallery and docs/presets.md',
  notes: [
    `Runs lie in ${RUNS}/<id>-<seed>; one that was stopped continues, one that is done is passed over.`,
  ],
  groups: {
    Options: {
      seeds: usually(SEEDS, 'N,N', 'the seeds of each preset'),
      from: text('DIR', 'takes the finished runs of another folder, and trains nothing'),
    },
  },
  examples: ['presets tiny tiny-grpo', 'presets --from runs/presets'],
})

export const presets: Command = {
  line: LINE,
  run: async (args) => {
    const { ids, seeds, from } = readOptions(args)
    if (from !== undefined && !existsSync(from)) throw new LabFailure(`--from: no folder ${from}`)
    const root = projectRoot()
    const runs = from ?? join(root, RUNS)
    for (const { id, seed } of from === undefined ? planned(ids, seeds) : []) {
      const args = trainArguments(id, seed, join(runs, `${id}-${seed}`))
      const code = args === undefined ? 0 : await train.run(args)
      // Stopped by a person.
      if (code !== 0) return code
    }
    const found = ids.map((id) => keepRows(root, id, finishedRuns(runs, id, seeds)))
    writeSaid(root, readRows(root))
    print(found.join('\n'))
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  const known = PRESETS.map(({ id }) => id)
  const unknown = positionals.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw new UsageError(`there is no preset '${unknown}'. Presets: ${known.join(', ')}`)
  const seeds = values.seeds.split(',')
  if (!seeds.every((seed) => /^\d{1,9}$/.test(seed)))
    throw new UsageError(`--seeds: expected whole numbers with commas, got '${values.seeds}'`)
  return {
    ids: positionals.length > 0 ? positionals : known,
    seeds: seeds.map(Number),
    from: values.from === undefined ? undefined : resolve(values.from),
  }
}

/** Seed by seed, so that a command that is stopped early has one run of everything first. */
const planned = (ids: readonly string[], seeds: readonly number[]) =>
  seeds.flatMap((seed) => ids.map((id) => ({ id, seed })))

/** What `lab train` is called with: to continue where there is a checkpoint; undefined where the
 * run is done. */
export function trainArguments(id: string, seed: number, folder: string): string[] | undefined {
  if (finishedFacts(folder)) return undefined
  const checkpoints = checkpointFolder(folder)
  if (existsSync(checkpoints) && readdirSync(checkpoints).length > 0) return ['--resume', folder]
  return [sourceOf(id), '--seed', `${seed}`, '--out', folder]
}

/** Reduces the finished runs of a preset. Throws LabFailure for one of another experiment. */
export function finishedRuns(folder: string, id: string, seeds: readonly number[]): PresetRun[] {
  const settings = JSON.stringify(settingsOf(measuredExperiment(id)))
  return seeds.flatMap((seed) => {
    const own = join(folder, `${id}-${seed}`)
    const facts = finishedFacts(own)
    if (!facts) return []
    const experiment = folderExperiment(own)
    if (experiment.seed !== seed || JSON.stringify(settingsOf(experiment)) !== settings)
      throw new LabFailure(`${own}: this is no run of ${id} with seed ${seed} as it is now`)
    return [readPresetRun(own, facts)]
  })
}

const rowsFile = (root: string, id: string): string =>
  join(root, 'bench/results/presets', `${id}.json`)

/** Adds runs to the rows of a preset; a run of the same seed replaces the earlier one. Says how
 * many there are. */
function keepRows(root: string, id: string, runs: readonly PresetRun[]): string {
  const settings = settingsOf(measuredExperiment(id))
  const earlier = readRows(root).get(id)
  const isSame = JSON.stringify(earlier?.settings) === JSON.stringify(settings)
  const kept = isSame ? (earlier?.runs ?? []) : []
  const others = kept.filter(({ seed }) => runs.every((run) => run.seed !== seed))
  const all = [...others, ...runs].sort((a, b) => a.seed - b.seed)
  if (all.length === 0) return `${id}: no finished run`
  mkdirSync(dirname(rowsFile(root, id)), { recursive: true })
  writeFileSync(rowsFile(root, id), rowsText({ preset: id, settings, runs: all }))
  return `${id}: seeds ${all.map(({ seed }) => seed).join(', ')}`
}

/** One line for each run, so that a diff shows which one changed. */
export function rowsText({ preset, settings, runs }: PresetRows): string {
  const lines = runs.map((run) => JSON.stringify(run)).join(',\n')
  const head = JSON.stringify({ preset, settings })
  return `${head.slice(0, -1)},"runs":[\n${lines}\n]}\n`
}

/** The committed rows of all presets that have some. */
export function readRows(root: string): AllRows {
  const rows = PRESETS.flatMap(({ id }): [string, PresetRows][] => {
    const file = rowsFile(root, id)
    return existsSync(file) ? [[id, JSON.parse(readFileSync(file, 'utf8'))]] : []
  })
  return new Map(rows)
}

/** The files that are made from rows, with what they have to hold. */
export function saidFiles(root: string, rows: AllRows): [file: string, text: string][] {
  const results = join(root, 'docs/presets.md')
  return [
    [
      join(root, 'src/document/presets/presets_seen.json'),
      `${JSON.stringify(catalogue(rows), undefined, 2)}\n`,
    ],
    [join(root, 'src/document/presets/presets_drawn.json'), figuresText(rows)],
    [results, withTables(readFileSync(results, 'utf8'), rows)],
  ]
}

function writeSaid(root: string, rows: AllRows): void {
  for (const [file, text] of saidFiles(root, rows)) writeFileSync(file, text)
}
