import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Result } from '../base/report.ts'
import { resultsOf } from '../results.ts'
import { addArray, addTo, changeBytes, copyOfCase } from './testing.ts'

let folder = ''
beforeEach(() => {
  folder = copyOfCase()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Without a GPU; cases without the name of the temporary folder. */
async function run(): Promise<Result[]> {
  const results: Result[] = []
  for await (const result of resultsOf([{ kind: 'model', folder }], { gpu: undefined }))
    results.push({ ...result, case: result.case.replace(/^[^/]*\/?/, '') })
  return results
}

/** Problems by case. */
const failures = (results: readonly Result[]) =>
  Object.fromEntries(
    results
      .filter(({ status }) => status !== 'ok')
      .map((result) => [result.case, 'problem' in result ? `${result.problem}` : '']),
  )

test('Hugging Face and the float64 reference agree, and no array is left over', async () => {
  const results = await run()
  expect(failures(results)).toEqual({})
  const cases = results.map((result) => result.case)
  for (const name of [
    'config',
    'in.lpad',
    'fwd.lpad',
    'forward_means.lpad',
    'gen',
    'unknown arrays',
  ])
    expect(cases).toContain(name)
  for (const name of ['grad.lpad.ppo', 'grad.lpad.ppo_layer_k', 'critic.lpad', 'critic.grad.lpad'])
    expect(cases).toContain(name)
  for (const name of ['reward.rpad', 'reward.grad.rpad', 'traj.bupo.inputs', 'traj.bupo.float32'])
    expect(cases).toContain(name)
})

test('one changed number anywhere is found, named, and disturbs nothing else', async () => {
  addTo(folder, {
    'fwd.lpad.logits': [40, 1e-3],
    'in.lpad.labels': [16, 1],
    'gen.input_ids': [11, 1],
    'grad.lpad.ppo.model.norm.weight': [5, 1e-3],
    'critic.lpad.values': [1, 1e-3],
    'critic.grad.lpad.score.bias': [0, 1e-3],
    'reward.rpad.scores': [3, 1e-3],
    'traj.bupo.labels': [0, 1],
    'traj.bupo.grad_norm': [7, 2e-3],
    'traj.bupo.final.model.layers.1.mlp.up_proj.weight': [9, 0.1],
  })
  addArray(folder, 'fwd.lpad.surprise')
  const found = failures(await run())
  const named: Record<string, string> = {
    'fwd.lpad': 'fwd.logits[0,1,9]: expected',
    'in.lpad': 'labels[0,16]: expected',
    gen: 'prompts[0,11]: expected',
    'grad.lpad.ppo': 'model.norm.weight[5]: expected',
    'critic.lpad': 'values[0,1]: expected',
    'critic.grad.lpad': 'score.bias[0]: expected',
    'reward.rpad': 'scores[3]: expected',
    'traj.bupo.inputs': 'labels[0,0,0]: expected',
    'traj.bupo.float32': 'grad_norm[7]: expected',
    'traj.bupo': 'most of it in traj.bupo.final.model.layers.1.mlp.up_proj.weight',
    'unknown arrays': 'fwd.lpad.surprise',
  }
  for (const [name, problem] of Object.entries(named)) expect(found[name], name).toContain(problem)
  expect(Object.keys(found).sort()).toEqual(Object.keys(named).sort())
})

test('an array without a tolerance is named, and the other sections are still run', async () => {
  const file = join(folder, 'expected.json')
  const json = JSON.parse(readFileSync(file, 'utf8'))
  delete json.tolerances['critic.lpad.values']
  writeFileSync(file, JSON.stringify(json))
  const results = await run()
  const found = failures(results)
  expect(found.critic).toContain('expected.json: no tolerance for critic.lpad.values')
  expect(found['unknown arrays']).toContain('critic.grad.lpad.score.weight')
  expect(Object.keys(found)).toHaveLength(2)
  expect(results.map((result) => result.case)).toContain('traj.bupo')
})

test('a file that was cut off is a failure', async () => {
  changeBytes(folder, 'expected.safetensors', (bytes) => bytes.subarray(0, bytes.length - 4))
  const [result, ...rest] = await run()
  expect(rest).toEqual([])
  expect(result.status).toBe('FAIL')
  expect('problem' in result && result.problem).toContain('ModelFileError')
  expect('problem' in result && result.problem).toContain(
    'expected.safetensors: expected 503512 bytes',
  )
})
