// lab tasks: makes a short run of every task, keeps a row of figures for each, and writes from all
// rows what the menu and docs/tasks.md say.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, LabFailure, UsageError } from '../../src/cli/base/command.ts'
import { commandLine, text, usually } from '../../src/cli/base/declare.ts'
import { projectRoot } from '../../src/cli/base/project_root.ts'
import { print } from '../../src/cli/base/terminal.ts'
import { readArguments } from '../../src/cli/options/read.ts'
import { rowsOf } from '../../src/cli/output/line_file.ts'
import { train } from '../../src/cli/train/train.ts'
import { paramsText } from '../../src/document/presets/task_results.ts'
import { TASKS } from '../../src/tasks/index.ts'
import { finishedFacts, settingsOf } from '../presets/preset_run.ts'
import { shortRun, type TaskRow, taskRow } from './short_run.ts'

const ROWS = 'bench/tasks'
const IDS = TASKS.map(({ id }) => id)

const LINE = commandLine({
  name: 'tasks',
  takes: '',
  summary: 'trains a small model on every task, for the menu and docs/tasks.md',
  notes: ['Tasks whose result is in the folder are passed over, so several can run side by side.'],
  groups: {
    Options: {
      tasks: text('A,B', 'these tasks alone'),
      seed: usually('1', 'N', 'the seed of the runs'),
      out: usually('runs/tasks', 'DIR', 'writes DIR/<task>.json'),
      from: text(
        'DIR',
        `takes the results of a folder into ${ROWS} and the docs, and trains nothing`,
      ),
    },
  },
  examples: ['tasks --tasks countdown --out runs/tasks'],
})

export const tasks: Command = {
  line: LINE,
  run: async (args) => {
    const { ids, seed, out, from } = readOptions(args)
    const root = projectRoot()
    if (from !== undefined) {
      print(keepRows(root, from, ids, seed).join('\n'))
      return 0
    }
    for (const id of ids) {
      const code = await runTask(id, seed, out)
      // Stopped by a person.
      if (code !== 0) return code
    }
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values } = readArguments(LINE, args)
  const ids = values.tasks?.split(',') ?? IDS
  const unknown = ids.find((id) => !IDS.includes(id))
  if (unknown !== undefined)
    throw new UsageError(`--tasks: there is no task '${unknown}'. Tasks: ${IDS.join(', ')}`)
  if (!/^\d{1,9}$/.test(values.seed))
    throw new UsageError(`--seed: expected a whole number, got '${values.seed}'`)
  const from = values.from === undefined ? undefined : resolve(values.from)
  if (from !== undefined && !existsSync(from)) throw new LabFailure(`--from: no folder ${from}`)
  return { ids, seed: Number(values.seed), out: resolve(values.out), from }
}

const rowFile = (folder: string, id: string): string => join(folder, `${id}.json`)
const rowText = (row: TaskRow): string => `${JSON.stringify(row)}\n`

/** The row of a file; undefined where there is none, or it is of another experiment than the task's
 * run is now. */
export function readRow(folder: string, id: string, seed?: number): TaskRow | undefined {
  const file = rowFile(folder, id)
  if (!existsSync(file)) return undefined
  const row = JSON.parse(readFileSync(file, 'utf8')) as TaskRow
  const experiment = shortRun(id, seed ?? row.result.seed)
  const isSame =
    row.result.seed === experiment.seed &&
    JSON.stringify(row.settings) === JSON.stringify(settingsOf(experiment))
  return isSame ? row : undefined
}

/** Trains a task and writes its row into the folder, where it is not there yet. */
async function runTask(id: string, seed: number, folder: string): Promise<number> {
  if (readRow(folder, id, seed)) {
    print(`${id}: is there`)
    return 0
  }
  const experiment = shortRun(id, seed)
  const [run, document] = [join(folder, 'runs', id), join(folder, 'runs', `${id}.experiment.json`)]
  mkdirSync(join(folder, 'runs'), { recursive: true })
  writeFileSync(document, `${JSON.stringify(experiment)}\n`)
  // A run that was cut short starts again: it is short.
  rmSync(run, { recursive: true, force: true })
  const code = await train.run([document, '--out', run, '--checkpoint-every', '0'])
  const facts = finishedFacts(run)
  if (code !== 0 || !facts) return code || 1
  const row = taskRow(experiment, facts, [...rowsOf(join(run, 'metrics.jsonl'))])
  writeFileSync(rowFile(folder, id), rowText(row))
  const { accuracy_first, accuracy_last, reward_first, reward_last } = row.result
  print(
    `${id}: accuracy ${accuracy_first} → ${accuracy_last}, reward ${reward_first} → ${reward_last}`,
  )
  return 0
}

/** Takes results into the committed rows, and writes what is made from all of them. */
function keepRows(root: string, from: string, ids: readonly string[], seed: number): string[] {
  mkdirSync(join(root, ROWS), { recursive: true })
  const kept = ids.map((id) => {
    const row = readRow(from, id, seed)
    if (row) writeFileSync(rowFile(join(root, ROWS), id), rowText(row))
    return `${id}: ${row ? 'kept' : 'no result of it as it is now'}`
  })
  for (const [file, text] of saidFiles(root, readRows(root))) writeFileSync(file, text)
  return kept
}

/** The committed rows of the tasks as they are now. */
export const readRows = (root: string): readonly TaskRow[] =>
  IDS.flatMap((id) => readRow(join(root, ROWS), id) ?? [])

const percent = (share: number): string => `${Math.round(100 * share)}`

function table(rows: readonly TaskRow[]): string {
  if (rows.length === 0) return 'No run has been recorded yet.'
  const names = new Map(TASKS.map(({ id, name }) => [id, name]))
  const head = ['task', 'parameters', 'accuracy, %', 'reward', 'steps', 'seconds', 'adapter']
  const body = rows.map(({ task, result }) => [
    `${names.get(task)} (\`${task}\`)`,
    paramsText(result) || 'usual',
    `${percent(result.accuracy_first)} → ${percent(result.accuracy_last)}`,
    `${result.reward_first.toFixed(2)} → ${result.reward_last.toFixed(2)}`,
    `${result.sft_steps} + ${result.rl_steps}`,
    `${Math.round(result.seconds)}`,
    result.adapter,
  ])
  return [head, head.map(() => '---'), ...body]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const SECTION = /<!-- tasks -->\n[\s\S]*?<!-- end -->/

/** The files that are made from rows, with what they have to hold. */
export function saidFiles(root: string, rows: readonly TaskRow[]): [file: string, text: string][] {
  const docs = join(root, 'docs/tasks.md')
  const seen = Object.fromEntries(rows.map(({ task, result }) => [task, result]))
  return [
    [join(root, 'src/document/presets/tasks_seen.json'), `${JSON.stringify(seen, undefined, 2)}\n`],
    [
      docs,
      readFileSync(docs, 'utf8').replace(
        SECTION,
        () => `<!-- tasks -->\n\n${table(rows)}\n\n<!-- end -->`,
      ),
    ],
  ]
}
