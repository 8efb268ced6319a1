import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LabFailure } from '../src/cli/base/command.ts'
import bupo_d3a85c6 from '../src/jobs/verl_names/bupo_d3a85c6.json' with { type: 'json' }
import type { Handler } from './base/fixture.ts'
import { type Result, resultLine } from './base/report.ts'
import { bupoCase } from './bupo/bupo_cases.ts'
import { depthCases } from './depth/depth_cases.ts'
import { distillTraceCase } from './distill/trace_cases.ts'
import { peftCase } from './hf/peft_cases.ts'
import { hfCase } from './hf_cases.ts'
import { interventionCase } from './intervention_cases.ts'
import { namesCase } from './names/names_cases.ts'
import { preferenceTraceCase } from './preference/trace_cases.ts'
import { resultsOf } from './results.ts'
import { findSources } from './sources.ts'
import { tokenizerCase } from './tokenizer_cases.ts'
import { trlCase } from './trl/trl_cases.ts'
import { VERL_CASES } from './verl_cases.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-conform-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, content: unknown): string {
  const file = join(folder, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const fixture = (...cases: unknown[]) => ({ source: 'verl', dtype: 'float64', cases })
const doubled = (name: string, x: unknown, y: unknown) => ({
  name,
  inputs: { x },
  config: {},
  expected: { y },
})

/** Stands for a function of the lab: y = 2 x. */
const double: Handler = ({ inputs }) => {
  const x = inputs.number('x')
  return [{ on: 'driver', run: () => ({ y: { actual: 2 * x, tolerance: 'exact' } }) }]
}
const failing: Handler = ({ inputs }) => {
  inputs.ignore('x')
  const run = () => {
    throw new RangeError('expected something else')
  }
  return [{ on: 'reference', run }]
}

const OTHERS = {
  peft: peftCase,
  bupo: bupoCase,
  interventions: interventionCase,
  preference: preferenceTraceCase,
  depth: depthCases,
  distill: distillTraceCase,
  trl: trlCase,
  tokenizer: tokenizerCase,
  names: namesCase,
}

async function run(path = folder, verl: Readonly<Record<string, Handler>> = { double, failing }) {
  const results: Result[] = []
  const sources = findSources(path)
  for await (const result of resultsOf(
    sources,
    { gpu: undefined },
    { ...OTHERS, verl, hf: hfCase },
  ))
    results.push(result)
  return results.map((result) => resultLine(result).replace(/\n\s*/, ': '))
}

/** A configuration with every name of the fork's table, each with a default of its type. */
function keysOfFork(): { source: string; keys: Record<string, unknown> } {
  const DEFAULTS = { any: null, boolean: true, list: [], number: 1, object: {}, string: 'a' }
  const names = Object.entries(bupo_d3a85c6).flatMap(([type, keys]) =>
    keys.map((key) => [key, DEFAULTS[type as keyof typeof DEFAULTS]]),
  )
  return { source: 'by hand', keys: Object.fromEntries(names) }
}

describe('fixtures', () => {
  test('each case is a result under the name of its file', async () => {
    write('double.json', fixture(doubled('a', 1, 2), doubled('b', 3, 5)))
    const [a, b] = await run()
    expect(a).toBe('ok    double/a  driver  abs 0  rel 0')
    expect(b).toContain('FAIL  double/b')
    expect(b).toContain('y: expected 5, got 6')
  })

  test('a file alone is run, and a folder to any depth in alphabetical order', async () => {
    const file = write('deep/er/double.json', fixture(doubled('a', 1, 2)))
    write('deep/a/double.json', fixture(doubled('first', 1, 2)))
    write('deep/index.json', { files: [] })
    write('deep/README.md', '# Goldens')
    expect(await run(file)).toHaveLength(1)
    expect((await run()).map((line) => line.split(/ +/)[1])).toEqual(['double/first', 'double/a'])
  })

  test.for([
    ['a misread input', doubled('c', 'one', 2), 'inputs.x: expected a number, got "one"'],
    ['no inputs', { name: 'c', expected: {} }, 'inputs: expected a record, got nothing'],
    ['no expected', { name: 'c', inputs: { x: 1 } }, 'expected: expected a record'],
    ['a case that is none', 7, 'case: expected a record, got 7'],
    ['an unknown config key', { ...doubled('c', 1, 2), config: { k: 1 } }, 'unknown: config.k'],
    ['an unknown input', { ...doubled('c', 1, 2), inputs: { x: 1, z: 1 } }, 'unknown: inputs.z'],
    [
      'an unknown expected value',
      { ...doubled('c', 1, 2), expected: { y: 2, z: 3 } },
      'unknown: nothing computes expected.z',
    ],
    ['a missing expected value', { ...doubled('c', 1, 2), expected: {} }, 'y: expected nothing'],
  ] as const)('%s fails its case in words, and the next is run', async ([, one, message]) => {
    write('double.json', fixture(one, doubled('next', 1, 2)))
    const lines = await run()
    expect(lines.filter((line) => line.startsWith('FAIL'))).toHaveLength(1)
    expect(lines.find((line) => line.startsWith('FAIL'))).toContain(message)
    expect(lines.at(-1)).toBe('ok    double/next  driver  abs 0  rel 0')
  })

  test('an error of the code is a failure of the case', async () => {
    write('failing.json', fixture(doubled('a', 1, 2)))
    expect((await run())[0]).toContain('RangeError: expected something else')
  })

  test('names of a configuration are held to the table that jobs are written by', async () => {
    const { keys, ...source } = keysOfFork()
    const line = (name: string, lines: readonly string[]) =>
      lines.find((one) => one.includes(`bupo_d3a85c6/${name}`))
    const changed = { ...keys, 'data.shuffle': 'yes', 'trainer.n_gpus_per_node': undefined }
    write('bupo_d3a85c6.json', { ...source, keys })
    expect((await run()).filter((one) => !one.startsWith('ok'))).toEqual([])
    write('bupo_d3a85c6.json', { ...source, keys: changed })
    const lines = await run()
    expect(line('data', lines)).toContain(
      'types.data.shuffle: expected string string, got string boolean',
    )
    expect(line('trainer', lines)).toContain(
      'computed trainer.n_gpus_per_node, which is not expected',
    )
    expect(line('algorithm', lines)).toMatch(/^ok/)
    write('verl_v0.1.json', { ...source, keys })
    expect((await run()).at(-1)).toContain('verl_v0.1: expected one of bupo_d3a85c6')
  })

  test('a fixture without code, without cases and without JSON are failures', async () => {
    write('a.json', fixture(doubled('x', 1, 2)))
    write('double.json', fixture())
    write('z.json', '{"cases": [')
    const lines = await run()
    expect(lines[0]).toContain('FAIL  a/x: unknown: there is no code for fixtures called a')
    expect(lines[1]).toContain('the file has no cases')
    expect(lines[2]).toMatch(/FAIL.*z\.json: unknown: .*JSON/)
  })

  test('without a GPU its checks are left out', async () => {
    const both: Handler = (one) => [
      ...double(one),
      { on: 'gpu', run: () => Promise.reject(new Error('not reached')) },
    ]
    write('double.json', fixture(doubled('a', 1, 2)))
    expect(await run(folder, { double: both })).toHaveLength(1)
  })

  test('every file of golden vectors has a handler', () => {
    // Names of the files as they were handed over; a new one belongs here and into the table.
    const stems =
      'actor_total_loss adamw_clip agg_loss apply_kl_penalty balance_batch dapo_overlong_reward data_metrics gae ' +
      'gpg_advantage grpo grpo_passk grpo_vectorized kl_controller kl_penalty logprobs_entropy lr_schedule ' +
      'masked_mean masked_whiten micro_batching offpolicy_metrics opo optimal_token_baseline ' +
      'policy_loss_bypass_mode policy_loss_cispo policy_loss_clip_cov policy_loss_dppo_kl policy_loss_dppo_tv ' +
      'policy_loss_dro policy_loss_geo_mean policy_loss_gpg ' +
      'policy_loss_gspo policy_loss_kl_cov policy_loss_reinforce policy_loss_sapo policy_loss_vanilla ' +
      'errors gdpo metric_aggregate ' +
      'dpo dpo_alpha_divergence dpo_old cpo_simpo orpo kto ' +
      'production_float32 reinforce_plus_plus reinforce_plus_plus_baseline remax response_alignment rloo ' +
      'rollout_is_weights rollout_rejection_mask validation_metrics value_loss'
    // A loss that verl has no numbers of has a handler all the same.
    expect(Object.keys(VERL_CASES)).toEqual(expect.arrayContaining(stems.split(' ')))
  })
})

describe('other golden data', () => {
  test('a model folder is one source, with its critic, reward and adapter', () => {
    for (const name of ['config.json', 'critic/config.json', 'lora/adapter_config.json'])
      write(`tiny/${name}`, {})
    write('tiny/expected.json', {})
    write('tiny/expected.safetensors', '')
    const model = { kind: 'model', folder: join(folder, 'tiny') }
    expect(findSources(folder)).toEqual([model])
    for (const name of ['expected.json', 'expected.safetensors'])
      expect(findSources(join(folder, 'tiny', name))).toEqual([model])
  })

  test('an adapter without a case is known, but there is nothing to compare', async () => {
    write('tiny/lora/adapter_config.json', {})
    expect(await run()).toEqual(['later tiny/lora'])
  })

  test('a tokenizer is compared text by text', async () => {
    const vocab = { a: 0, b: 1 }
    write('letters/tokenizer.json', { model: { type: 'WordLevel', vocab } })
    const decoded = { decoded: 'b', decoded_skip_special: 'b' }
    const one = { text: 'b', ids: [1], ids_with_special: [1], tokens: ['b'], ...decoded }
    const expected = { encode: [one, { ...one, ids: [0] }], decode: [{ ids: [1], ...decoded }] }
    write('letters/expected.json', expected)
    const lines = await run()
    expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(' '))).toEqual([
      'ok letters/encode_0',
      'FAIL letters/encode_1',
      'ok letters/decode_0',
    ])
    expect(lines[1]).toContain('ids[0]: expected 0, got 1')
    expect(await run(join(folder, 'letters/expected.json'))).toEqual(lines)
  })

  test('a tokenizer that is none is a failure', async () => {
    write('bpe/tokenizer.json', {})
    write('bpe/expected.json', {})
    expect((await run())[0]).toContain('FAIL  bpe: TokenizerFileError: tokenizer.json: model')
  })

  test('checks of a model are compared, and an error ends that model only', async () => {
    write('tiny/config.json', {})
    write('tiny/expected.safetensors', '')
    write('tiny2/double.json', fixture(doubled('a', 1, 2)))
    async function* hf() {
      const outputs = { logits: { actual: 1, expected: 1, tolerance: 'exact' as const } }
      yield { case: 'tiny/fwd', on: 'gpu' as const, outputs }
      throw new Error('cut off')
    }
    const results: Result[] = []
    const context = { gpu: undefined }
    for await (const result of resultsOf(findSources(folder), context, {
      ...OTHERS,
      verl: { double },
      hf,
    }))
      results.push(result)
    expect(results.map((result) => [result.case, result.status])).toEqual([
      ['tiny/fwd', 'ok'],
      ['tiny', 'FAIL'],
      ['double/a', 'ok'],
    ])
  })

  test('what is neither is unknown; nothing at all and a missing path are refused', async () => {
    expect(() => findSources(folder)).toThrow(LabFailure)
    expect(() => findSources(join(folder, 'nowhere'))).toThrow('nowhere: no such file or folder')
    write('notes.json', { hello: 1 })
    expect((await run())[0]).toMatch(/FAIL.*notes\.json: unknown: this layout/)
    expect((await run(write('notes.txt', 'hello')))[0]).toContain('not a file that conform knows')
  })
})
