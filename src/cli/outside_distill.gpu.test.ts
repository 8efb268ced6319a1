// TRL's GKDTrainer runs the job that a phase of distillation leaves as, and its steps are the
// lab's.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { makeJob } from '../jobs/job_files.ts'
import { distilled, taughtSource } from '../jobs/testing.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { Trainer } from '../rl/train/trainer.ts'
import { writeFolder } from './output/file_folder.ts'
import { hasModules, PATIENCE_MS, PYTHON, pythonEnv } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-distill-'))
afterAll(() => rmSync(root, { recursive: true }))

const hasTrl = hasModules('torch', 'transformers', 'trl', 'datasets')

/** What TRL logs of every step of the job. */
function trlSteps(name: string, source: ReturnType<typeof taughtSource>) {
  const folder = join(root, name)
  writeFolder(folder, makeJob(source, { target: 'trl', verl: '0.9' }).files)
  const done = spawnSync(PYTHON, [join(folder, 'train_trl.py')], {
    encoding: 'utf8',
    env: { ...pythonEnv, TRL_EXPERIMENTAL_SILENCE: '1' },
  })
  expect(done.status, done.stderr.slice(-3000)).toBe(0)
  const log: Record<string, number>[] = JSON.parse(
    readFileSync(join(folder, 'trained', 'trl_log.json'), 'utf8'),
  )
  return log.filter((entry) => 'loss' in entry)
}

test.skipIf(!hasTrl).for([
  [0.3, 1],
  [1, 1],
  [0.3, 0.7],
])(
  'on demonstrations TRL’s steps are the lab’s, beta %d at temperature %d',
  { timeout: PATIENCE_MS },
  async ([beta, temperature]) => {
    const optim = { lr: 0.01, lr_warmup_steps: 0 }
    const experiment = distilled({ lmbda: 0, beta, temperature }, { steps: 5, optim })
    const source = taughtSource(experiment)
    // Far from the student, so that there is something to learn.
    const teacher = source.teacher?.map((x) => 6 * x)
    const steps = trlSteps(`beta${beta}_${temperature}`, { ...source, teacher })
    const gpu = await Gpu.open()
    const trainer = await Trainer.create(gpu, trainerConfig(experiment))
    trainer.importTeacher(teacher ?? new Float32Array())
    const own: Record<string, number>[] = []
    while (!trainer.isFinished) {
      const { step, metrics } = await trainer.next()
      if (step > 0) own.push(metrics)
    }
    trainer.destroy()
    expect(steps).toHaveLength(own.length)
    for (const [i, { loss, grad_norm }] of steps.entries()) {
      expect(own[i]['distillation/loss'] / loss).toBeCloseTo(1, 3)
      expect(own[i]['actor/grad_norm'] / grad_norm).toBeCloseTo(1, 2)
    }
  },
)

test.skipIf(!hasTrl)(
  'TRL samples with the student and with the teacher',
  { timeout: PATIENCE_MS },
  () => {
    const source = taughtSource(distilled({ lmbda: 0.5, seq_kd: true }, { steps: 6 }))
    const steps = trlSteps('mixed', source)
    expect(steps).toHaveLength(6)
    for (const { loss } of steps) expect(loss).toBeGreaterThan(0)
  },
)
