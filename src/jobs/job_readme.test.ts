import { expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import { checkJob } from './job_files.ts'
import { experimentOf, filesOf, sourceOf } from './testing.ts'

const preset = (id: string) => presetOf(id)?.experiment ?? experimentOf({})
const RL = { kind: 'rl', steps: 5 }

test.for([
  ['0.7', '0.7.1', 'verlai/verl:vllm017.latest'],
  ['0.9', '0.9.1', 'verlai/verl:vllm024.latest'],
] as const)(
  'verl %s is installed wherever the job of its keys starts',
  ([verl, release, image]) => {
    const { text } = filesOf(preset('tiny-grpo'), { verl })
    for (const path of ['README.md', 'sky.yaml']) {
      expect(text.get(path)).toContain(image)
      expect(text.get(path)?.match(/verl==[\d.]+/g)).toEqual([`verl==${release}`])
    }
  },
)

test('what was changed by hand is named, and the job begins with the values of its beginning', () => {
  const change = { step: 8, kind: 'set', path: 'actor.optim.lr', value: 0.0013 } as const
  const steered = experimentOf({
    phases: [{ ...RL, steps: 20 }],
    actor: { optim: { lr: 0.001 } },
    steering: [change],
  })
  const told = 'steering (lr 0.0013 after step 8): a job is not steered'
  const untrained = filesOf(steered).text
  expect(untrained.get('run_verl.sh')).toContain('actor.optim.lr=0.001\n')
  expect(untrained.get('README.md')).toContain(told)
  // A checkpoint has its own value, and says how it came to be.
  const source = { ...sourceOf({ ...steered, steering: [] }), changes: [change] }
  const { lost } = checkJob(source, { target: 'trl', verl: '0.9' })
  const note = lost.find(({ path }) => path === 'steering')
  expect(note?.value).toBe('lr 0.0013 after step 8')
  expect(note?.why).toMatch(/it has what these changes led to from its first step/)
})

test('verl samples in bfloat16, and where the lab does not that is said', () => {
  const said = (dtype: string) =>
    filesOf(experimentOf({ rollout: { dtype } })).text.get('README.md')
  expect(said('float32')).toMatch(/rollout\.dtype \(float32\): it samples in bfloat16/)
  expect(said('float16')).toMatch(/rollout\.dtype \(float16\)/)
})

test('a folder names its own script, and no option of the command line', () => {
  const inner = experimentOf({ phases: [{ ...RL, target_layer: 2 }, RL] })
  const { text } = filesOf(inner, { target: 'bupo' })
  expect(text.get('run_bupo.sh')).toContain('bash run_bupo.sh trainer')
  expect(text.get('run_bupo.sh')).not.toContain('run_verl.sh')
  for (const target of ['verl', 'trl', 'bupo'] as const)
    expect(filesOf(inner, { target }).text.get('README.md')).not.toMatch(/--(to|phase) /)
})
