// A run of the command line that is cut short and continued leaves the folder of one that was not.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import { TINY } from '../../host/checkpoints/testing.ts'
import { checkpointFolder } from '../output/checkpoint_files.ts'
import { train } from './train.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-resume-'))
afterAll(() => rmSync(root, { recursive: true }))
const at = (...names: string[]) => join(root, ...names)

const DOCUMENT = {
  ...TINY,
  phases: [
    { kind: 'sft', steps: 2 },
    {
      kind: 'reward_model',
      steps: 3,
      pairs: { source: 'mixed', count: 5, held_out: 2, verdicts: 'ab2ua' },
    },
    {
      kind: 'rl',
      steps: 3,
      adv_estimator: 'gae',
      reward_model: { enable: true },
      algorithm: { use_kl_in_reward: true, kl_ctrl: { type: 'adaptive', kl_coef: 0.1 } },
    },
    { kind: 'rl', steps: 2, target_layer: 1, target_readout: 'tuned' },
    {
      kind: 'preference',
      steps: 3,
      batch_size: 2,
      target_layer: 1,
      preference: { loss_type: 'kto', beta: 0.5 },
      pairs: { source: 'mixed', count: 4, held_out: 2, verdicts: 'a1b' },
    },
    {
      kind: 'distill',
      steps: 3,
      batch_size: 2,
      target_layer: 1,
      distillation: { teacher: 'ema', lmbda: 0.5 },
    },
  ],
  steering: [
    { step: 1, kind: 'set', path: 'actor.optim.lr', value: 0.001 },
    { step: 6, kind: 'next_phase' },
  ],
}
const LAST = 14

/** Runs the command and returns what it said. */
async function lab(...args: string[]) {
  const said: string[] = []
  const keep = (line: unknown) => {
    said.push(`${line}`)
  }
  vi.spyOn(console, 'error').mockImplementation(keep)
  vi.spyOn(console, 'log').mockImplementation(keep)
  try {
    return { code: await train.run(args), said: said.join('\n') }
  } finally {
    vi.restoreAllMocks()
  }
}

/** Lines with what may differ from run to run taken out, otherwise byte by byte. */
const lines = (folder: string, name: string) =>
  readFileSync(at(folder, name), 'utf8').replaceAll(/"(timing_[a-z_]+|perf)\/[^"]*":[^,}]*,?/g, '')

async function weights(folder: string, step: number) {
  const bytes = readFileSync(at(folder, 'checkpoints', fileOf(step)))
  const { run, history } = await decodeCheckpoint(bytes, folder)
  return { sum: Buffer.from(run.trainer.actor.adam_v.buffer).toString('base64'), history }
}

const facts = (folder: string) => JSON.parse(readFileSync(at(folder, 'run.json'), 'utf8'))

/** The folder as it is when the process is killed: the checkpoint of `step` is the newest, a later
 * line is half written. */
function killed(folder: string, step: number): void {
  cpSync(at('whole'), at(folder), { recursive: true })
  for (const name of readdirSync(checkpointFolder(at(folder))))
    if (name > fileOf(step)) rmSync(join(checkpointFolder(at(folder)), name))
  const metrics = readFileSync(at(folder, 'metrics.jsonl'), 'utf8').split('\n')
  // Step 0 has a line too.
  writeFileSync(
    at(folder, 'metrics.jsonl'),
    `${metrics.slice(0, step + 2).join('\n')}\n${metrics[step + 2]?.slice(0, 40) ?? ''}`,
  )
  writeFileSync(at(folder, 'run.json'), JSON.stringify({ ...facts('whole'), status: 'running' }))
  for (const name of ['samples.jsonl', 'generations.jsonl'])
    appendFileSync(at(folder, name), '{"step":')
}

function expectWhole(folder: string): void {
  const files = ['metrics.jsonl', 'samples.jsonl', 'observations.jsonl', 'generations.jsonl']
  for (const name of files)
    expect(lines(folder, name).replaceAll(/"cost_ms":\{[^}]*\}/g, ''), `${folder}/${name}`).toBe(
      lines('whole', name).replaceAll(/"cost_ms":\{[^}]*\}/g, ''),
    )
  const [own, whole] = [facts(folder), facts('whole')]
  for (const name of ['status', 'record', 'phases', 'steering', 'steps', 'findings'])
    expect(own[name], `${folder} ${name}`).toEqual(whole[name])
}

test.skipIf(!process.env.LONG_TESTS)(
  'a run that is killed and continued writes the bytes of one that was left alone',
  async () => {
    const file = at('document.json')
    writeFileSync(file, JSON.stringify(DOCUMENT))
    const whole = await lab(file, '--out', at('whole'), '--checkpoint-every', '1', '--observe')
    expect(whole.code).toBe(0)
    expect(readdirSync(at('whole', 'checkpoints'))).toHaveLength(LAST)
    const right = await weights('whole', LAST)
    expect(right.history.verdicts).toEqual({ 1: 'ab2ua', 4: 'a1b' })

    // Greedy and sampled answers to eight held-out problems, at every evaluation.
    const evaluations = lines('whole', 'metrics.jsonl').split('acc/greedy').length - 1
    expect(evaluations).toBeGreaterThan(2)
    const answers = lines('whole', 'generations.jsonl').trim().split('\n')
    expect(answers).toHaveLength(16 * evaluations)
    expect(JSON.parse(answers[8])).toEqual({
      step: 0,
      input: expect.any(String),
      output: expect.any(String),
      gts: expect.any(String),
      score: expect.any(Number),
      do_sample: true,
      is_ended: expect.any(Boolean),
    })

    // In the first phase, between verdicts of either kind of phase, and at the switch that steering
    // brought.
    for (const step of [1, 4, 6, 9, 12]) {
      const folder = `killed_${step}`
      killed(folder, step)
      const { code, said } = await lab('--resume', at(folder), '--checkpoint-every', '2')
      expect(code).toBe(0)
      expect(said).toContain(`Continuing after step ${step} (${fileOf(step)})`)
      expectWhole(folder)
      expect((await weights(folder, LAST)).sum).toBe(right.sum)
      expect(facts(folder).resumed).toMatchObject([{ step }])
      expect(existsSync(at(folder, 'metrics.csv'))).toBe(true)
    }

    // What has finished says so, and stays as it is.
    const again = await lab('--resume', at('whole'))
    expect(again).toMatchObject({
      code: 0,
      said: expect.stringContaining(`has finished after step ${LAST}; nothing is left to do`),
    })

    // A damaged checkpoint is passed over, lost lines come back, other versions are named.
    killed('damaged', 5)
    const newest = join(checkpointFolder(at('damaged')), fileOf(5))
    const bytes = readFileSync(newest)
    bytes[bytes.length - 9] ^= 1
    writeFileSync(newest, bytes)
    writeFileSync(at('damaged', 'metrics.jsonl'), '')
    rmSync(at('damaged', 'run.json'))
    const damaged = await lab('--resume', at('damaged'), '--checkpoint-every', '3')
    expect(damaged.said).toMatch(
      /step_000005\.safetensors: checksum: expected .*; take an older checkpoint\n/,
    )
    expect(damaged.said).toContain('Continuing after step 4')
    expect(damaged.said).toContain('metrics.jsonl ends with step -1')
    expect((await weights('damaged', LAST)).sum).toBe(right.sum)
    const steps = (folder: string) =>
      readFileSync(at(folder, 'metrics.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).step)
    expect(steps('damaged')).toEqual(Array.from({ length: LAST + 1 }, (_, step) => step))

    // A file begins a run of its own, with what was known.
    const branch = await lab(
      '--resume',
      at('whole', 'checkpoints', fileOf(6)),
      '--out',
      at('branch'),
    )
    expect(branch.code).toBe(0)
    expect((await weights('branch', LAST)).sum).toBe(right.sum)
    expect(facts('branch')).toMatchObject({ parent: { record: facts('whole').record, step: 6 } })
    expect(facts('branch').record).not.toBe(facts('whole').record)
    expect(steps('branch')).toEqual(steps('damaged'))
    // Six runs or more one after another: a slow machine needs more than the usual two minutes.
  },
  400_000,
)

test.skipIf(!process.env.LONG_TESTS)(
  'what cannot be continued is refused with the way out',
  async () => {
    const refusal = (...args: string[]) => expect(lab(...args)).rejects
    await refusal('--resume', at('nowhere')).toThrow(
      'no such folder or file; --resume takes the folder',
    )
    await refusal('--resume', root).toThrow('no checkpoints; train --out DIR leaves them')
    const file = at('whole', 'checkpoints', fileOf(2))
    await refusal('--resume', file).toThrow('add --out DIR, its folder')
    await refusal('--resume', file, '--out', at('whole')).toThrow('--out: ')
    await refusal('--resume', at('whole'), '--seed', '3').toThrow(
      '--seed: cannot change with --resume',
    )
    await refusal('tiny', '--resume', at('whole')).toThrow('the checkpoint holds the experiment')
    await refusal('tiny', '--checkpoint-every', 'x').toThrow('expected a whole number')
    await refusal('--resume', at('document.json'), '--out', at('x')).toThrow(
      'document.json: expected a header',
    )
  },
)
