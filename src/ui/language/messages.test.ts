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
  '{"actor":{"optim":{"lr":99}}}': 'actor.optim.lr：应为 0.000001 到 0.1 的数，实际为 99',
  '{"rollout":{"temperature":"hot"}}': 'rollout.temperature：应为 0.05 到 5 的数，实际为“hot”',
  '{"model":{"num_hidden_layers":999}}': 'model.num_hidden_layers：应为 1 到 48 的整数，实际为 999',
  '{"seed":"a"}': 'seed：应为 0 到 4294967295 的整数，实际为“a”',
  '{"a":1}':
    'a：未知或尚不支持；这里可用的有：version、task、tools、data、reward、model、teacher、phases、rollout、actor、critic、algorithm、validation、probe、kernels、steering、name、seed',
  '{"data":{"admission":{"foo":1}}}':
    'data.admission.foo：未知或尚不支持；这里可用的有：min_rate、max_rate、retry_epochs',
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
    '应为“gcd”或“story”，实际为“a”',
  )
})

const OF_FILES: Readonly<Record<string, string>> = {
  'It is an image; choose another file.': '它是图片；请选择另一个文件。',
  'It is a GGUF file (llama.cpp); take the safetensors of the model from the Hub, or convert it with transformers (from_pretrained(DIR, gguf_file=NAME).save_pretrained(OUT)).':
    '它是 GGUF 文件（llama.cpp）；请从 Hub 取该模型的 safetensors，或用 transformers 转换（from_pretrained(DIR, gguf_file=NAME).save_pretrained(OUT)）。',
  "It is not JSON: Expected property name or '}' in JSON at position 2 (line 1 column 3).":
    '它不是 JSON：第 1 行第 3 列有误。',
  'It is not JSON: Unexpected token \'n\', "{ nope" is not valid JSON.': '它不是 JSON：“n”处有误。',
  'It is not JSON: Unexpected end of JSON input.': '它不是 JSON：内容中途结束。',
  'It is not JSON: JSON.parse: unexpected character at line 2 column 5 of the JSON data.':
    '它不是 JSON：第 2 行第 5 列有误。',
  'It is not valid JSON: Unexpected end of JSON input.': '它不是有效的 JSON：内容中途结束。',
  'It is not valid JSON: Expected double-quoted property name in JSON at position 8 (line 1 column 9).':
    '它不是有效的 JSON：第 1 行第 9 列有误。',
  'f.jsonl: row 2, column answer: expected a text, found null (null)':
    'f.jsonl：第 2 行，列 answer：应为文本，实际为 null（null）',
  'x.jsonl: row 2, column messages: message 1 is of "foo": expected one of system, user, assistant':
    'x.jsonl：第 2 行，列 messages：第 1 条消息属于 "foo"：应为 system、user、assistant 之一',
  'x.csv: expected a column with prompts (prompt, question) and one with right answers (answer), found name, value; choose them':
    'x.csv：应有一列提示（prompt、question）和一列正确答案（answer），实际有 name、value；请指定是哪两列',
  'No column counts the steps. Looked for step, global_step; found name, value and 3 more.':
    '没有表示步数的列。查找的是 step、global_step；找到 name、value，以及另外 3 个。',
  '2 steps have two values of reward; the later one is kept.':
    '2 步各有两个 reward 的值；保留后一个。',
  "Not understood and left out: 'foo', 'bar' and 3 more.":
    '无法理解，已略去：“foo”、“bar”，还有 3 个。',
}

test('what is wrong with a file is said in whole sentences, names of columns as they are', () => {
  for (const [text, said] of Object.entries(OF_FILES)) expect(texts.translate(text)).toBe(said)
})

test('a form says a refusal in its own words', () => {
  const refusals = {
    "Pinned kernels: entry 1 is 'foo': expected a class of products and a kernel with one colon between them, like nt_m4096_n192_k64:vector_4x4, or 'default' alone":
      '固定的内核：第 1 项“foo”：应写成“类:内核”，例如 nt_m4096_n192_k64:vector_4x4，或只写“default”',
    "Expected 'constant' (constant) or 'cosine' (cosine decay), got '0.001'.":
      '应为“constant”（常数）或“cosine”（余弦衰减），实际为“0.001”。',
    "Not understood and left out: 'r'.": '无法理解，已略去：“r”。',
    'keep none': '恢复为“无”',
    'keep 0.0015': '恢复为 0.0015',
  }
  for (const [text, said] of Object.entries(refusals)) expect(texts.translate(text)).toBe(said)
})
