// Trains one run of a study: lab train in a process of its own, and what its folder says when it is
// over.
import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PlannedRun } from '../../document/study/queue.ts'
import { phaseAt, ResultLog, type RunResult } from '../../document/study/results.ts'
import type { Study } from '../../document/study/study.ts'
import { readJson } from '../input/input_file.ts'
import { insideOf } from './inside.ts'

/** What `lab train` exits with when a signal ended it. */
const STOPPED = 130

/** The run of a folder, or why it has not ended; `stopped`: the person ended it. */
export type Outcome =
  | { readonly result: RunResult }
  | { readonly stopped: true }
  | { readonly problem: string }

interface Facts {
  readonly status: string
  readonly adapter: { readonly description: string }
  readonly wall_time_s: number
  readonly phases: readonly { readonly step: number; readonly phase: number }[]
}

/** Where a run is trained; `signal` ends it after its step. */
interface Place {
  readonly folder: string
  /** The run or checkpoint whose model it begins with, in place of what its experiment says. */
  readonly start: string | undefined
  readonly signal: AbortSignal
  /** Its programs may run where this system cannot confine them. */
  readonly isTrusted: boolean
}

/** Trains a run in its folder, or continues the one that a crash left there. */
export async function trainRun(
  run: PlannedRun,
  study: Study,
  { folder, start, signal, isTrusted }: Place,
): Promise<Outcome> {
  const trust = isTrusted ? ['--trust-programs'] : []
  const begins = start === undefined ? [] : ['--model', start]
  const every = `${study.inside?.every ?? 50}`
  mkdirSync(folder, { recursive: true })
  const document = join(folder, '..', `${folder.split('/').at(-1)}.json`)
  writeFileSync(document, JSON.stringify(run.experiment))
  if (isBegun(folder)) {
    const code = await lab(['train', '--resume', folder, ...trust], `${document}.log`, signal)
    if (code === STOPPED) return { stopped: true }
  }
  if (!isOver(folder)) {
    const code = await lab(
      [
        'train',
        document,
        '--out',
        folder,
        '--force',
        '--checkpoint-every',
        every,
        ...begins,
        ...trust,
      ],
      `${document}.log`,
      signal,
    )
    if (code === STOPPED || signal.aborted) return { stopped: true }
  }
  if (!isOver(folder)) {
    const said = readFileSync(`${document}.log`, 'utf8').trim().split('\n').slice(-3).join(' ')
    return { problem: said }
  }
  const result = await resultOf(run, study, { folder, start })
  rmSync(join(folder, 'checkpoints'), { recursive: true, force: true })
  return { result }
}

const factsOf = (folder: string): Facts | undefined =>
  existsSync(join(folder, 'run.json')) ? (readJson(join(folder, 'run.json')) as Facts) : undefined
const isOver = (folder: string) => /finished|failed/.test(factsOf(folder)?.status ?? '')
const isBegun = (folder: string) => /running|stopped/.test(factsOf(folder)?.status ?? '')

/** Runs a command of this program. */
function lab(args: readonly string[], log: string, signal: AbortSignal): Promise<number> {
  const file = openSync(log, 'w')
  const child = spawn(process.execPath, [process.argv[1], ...args], {
    stdio: ['ignore', file, file],
  })
  const end = () => child.kill('SIGINT')
  signal.addEventListener('abort', end)
  return new Promise((resolve) => {
    child.on('close', (code) => {
      signal.removeEventListener('abort', end)
      closeSync(file)
      resolve(code ?? STOPPED)
    })
  })
}

/** What a finished folder says, and what its states do. */
async function resultOf(
  { arm, seed, experiment }: PlannedRun,
  study: Study,
  { folder, start }: Pick<Place, 'folder' | 'start'>,
): Promise<RunResult> {
  const facts = factsOf(folder)
  if (!facts) throw new Error(`${folder}: run.json is missing`)
  const log = new ResultLog(experiment, study)
  for (const line of readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n')) {
    if (line === '') continue
    const { step, data } = JSON.parse(line) as { step: number; data: Record<string, number> }
    log.step(step, phaseAt(facts.phases, step), data)
  }
  if (study.inside && facts.status === 'finished')
    log.inside(await insideOf(experiment, study.inside, { folder, start, phases: facts.phases }))
  return log.result({
    arm: arm.name,
    seed,
    status: facts.status === 'finished' ? 'finished' : 'failed',
    adapter: facts.adapter.description,
    seconds: facts.wall_time_s,
  })
}
