// A run that another model teaches, on the command line: it writes, it is kept with the run, and
// leaves with its job.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { exportCommand } from '../export/export.ts'
import { train } from './train.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-taught-'))
afterAll(() => rmSync(root, { recursive: true }))
const at = (...path: string[]) => join(root, ...path)
const SMALL = { head_dim: 8, num_attention_heads: 2, num_key_value_heads: 1 }

beforeAll(() => {
  const task = { id: 'sort_digits' }
  const large = { ...SMALL, hidden_size: 24, num_hidden_layers: 3, intermediate_size: 32 }
  const sft = { kind: 'sft', steps: 3, batch_size: 8 }
  writeFileSync(at('large.json'), JSON.stringify({ task, model: large, phases: [sft] }))
  const model = { ...SMALL, hidden_size: 16, num_hidden_layers: 2, intermediate_size: 16 }
  const distillation = { teacher: 'model', lmbda: 0.5, seq_kd: true }
  const phase = { kind: 'distill', steps: 6, batch_size: 4, distillation }
  writeFileSync(at('small.json'), JSON.stringify({ task, model, phases: [phase] }))
})

/** Lines of the metrics, but for times. */
const lines = (folder: string) =>
  readFileSync(at(folder, 'metrics.jsonl'), 'utf8')
    .replaceAll(/"(timing_[a-z_]+|perf)\/[^"]*":[^,}]*,?/g, '')
    .trim()
    .split('\n')

test('a taught run continues without the files of its teacher, which its job has', async () => {
  for (const stream of ['log', 'error'] as const)
    vi.spyOn(console, stream).mockImplementation(() => {})
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  expect(await train.run([at('large.json'), '--out', at('large')])).toBe(0)
  const every = ['--checkpoint-every', '2']
  const taught = [at('small.json'), '--teacher', at('large'), '--out', at('small'), ...every]
  expect(await train.run(taught)).toBe(0)
  rmSync(at('large'), { recursive: true })
  const [begun] = readdirSync(at('small', 'checkpoints')).sort()
  const resumed = ['--resume', at('small', 'checkpoints', begun), '--out', at('again')]
  expect(await train.run(resumed)).toBe(0)
  expect(begun).toMatch(/0+2\.safetensors$/)
  expect(lines('again').slice(-4)).toEqual(lines('small').slice(-4))
  expect(await exportCommand.run([at('again'), at('job'), '--to', 'trl'])).toBe(0)
  const config = JSON.parse(readFileSync(at('job', 'teacher', 'config.json'), 'utf8'))
  expect(config.hidden_size).toBe(24)
  vi.restoreAllMocks()
})
