// Asks of what is said of wrong settings that it is wholly in Chinese, its paths and words of code
// excepted.
import { expect, test } from 'vitest'
import { parseExperiment, withField } from '../../document/experiment/experiment.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { allTexts } from './testing.ts'

const texts = allTexts()
const IS_ENGLISH = /\b(?:at|expected|from|got|is|legal|of|or|stays|the|to)\b/

/** Without what is quoted and what a list of keys holds. */
const words = (text: string) => text.replace(/'[^']*'/g, '')

test('what is wrong with a value of any setting is wholly in Chinese', () => {
  const { experiment } = PRESETS[0]
  const messages = experimentFields(experiment).flatMap(({ path, value, kind }) =>
    ['abc', 1e9, null].flatMap((wrong) => {
      const result = withField(experiment, path, wrong)
      if (result.ok) return []
      const ofLink = `${result.message}. ${path} stays at ${value}.`
      if (kind !== 'number' && kind !== 'integer') return [ofLink]
      // As the form of a study says it of several values.
      const alone = result.message.slice(path.length + 2).replace('expected', 'Expected')
      return [ofLink, `${alone}. ${alone}.`]
    }),
  )
  expect(messages.length).toBeGreaterThan(500)
  const left = messages.filter((text) => IS_ENGLISH.test(words(texts.translate(text))))
  expect(left).toEqual([])
})

const OF_DOCUMENTS: Readonly<Record<string, string>> = {
  '{"actor":{"optim":{"lr":99}}}': 'actor.optim.lr：应为 0.000001 到 0.1 的数，当前为 99',
  '{"rollout":{"temperature":"hot"}}': 'rollout.temperature：应为 0.05 到 5 的数，当前为“hot”',
  '{"model":{"num_hidden_layers":999}}': 'model.num_hidden_layers：应为 1 到 48 的整数，当前为 999',
  '{"seed":"a"}': 'seed：应为 0 到 4294967295 的整数，当前为“a”',
  '{"a":1}':
    'a：未知或尚不支持；这里可用的有：version, task, tools, data, reward, model, teacher, phases, rollout, actor, critic, algorithm, validation, probe, kernels, steering, name, seed',
  '{"data":{"admission":{"foo":1}}}':
    'data.admission.foo：未知或尚不支持；这里可用的有：min_rate, max_rate, retry_epochs',
}

test('a path, the names of keys and what was given stay as they are', () => {
  for (const [document, said] of Object.entries(OF_DOCUMENTS)) {
    const result = parseExperiment(JSON.parse(document))
    const all = result.ok ? [] : result.issues.map(({ path, message }) => `${path}: ${message}`)
    expect(all.map((text) => texts.translate(text))).toEqual([said])
  }
})

test('words of code are joined in Chinese', () => {
  expect(texts.translate("expected 'gcd' or 'story', got 'a'")).toBe(
    '应为“gcd”或“story”，当前为“a”',
  )
})

test('a form says a refusal in its own words', () => {
  const refusals = {
    "Pinned kernels: entry 1 is 'foo': expected a class of products and a kernel with one colon between them, like nt_m4096_n192_k64:vector_4x4, or 'default' alone":
      '固定的内核：第 1 项“foo”：应写成“类:内核”，例如 nt_m4096_n192_k64:vector_4x4，或只写“default”',
    "Expected 'constant' (constant) or 'cosine' (cosine decay), got '0.001'.":
      '应为“constant”（常数）或“cosine”（余弦衰减），当前为“0.001”。',
    "Not understood and left out: 'r'.": '无法理解，已略去：“r”。',
    'keep none': '恢复为“无”',
    'keep 0.0015': '恢复为 0.0015',
  }
  for (const [text, said] of Object.entries(refusals)) expect(texts.translate(text)).toBe(said)
})
