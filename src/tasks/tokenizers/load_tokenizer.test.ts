import { describe, expect, test } from 'vitest'
import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'
import { loadTokenizer } from './load_tokenizer.ts'

/** Two letters, a merge, a thinking mark that is text, and two special tokens. */
const JSON_FILE = {
  added_tokens: [
    { id: 3, content: '<end>', special: true },
    { id: 4, content: '<pad>', special: true },
    { id: 5, content: '<think>', special: false },
  ],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: [['a', 'b']] },
}
const CONFIG = { eos_token: '<end>', pad_token: { content: '<pad>' } }

const filesOf = (json: object = {}, config: object = {}, more: object = {}): TokenizerFiles => ({
  'tokenizer.json': JSON.stringify({ ...JSON_FILE, ...json }),
  'tokenizer_config.json': JSON.stringify({ ...CONFIG, ...config }),
  ...Object.fromEntries(Object.entries(more).map(([file, value]) => [file, `${value}`])),
})

const load = (json?: object, config?: object, more?: object) =>
  loadTokenizer(filesOf(json, config, more))

describe('the tokenizer of a model folder', () => {
  test('texts become ids and come back, up to the first end token', async () => {
    const { encode, decode, ...tokenizer } = await load()
    expect(tokenizer).toMatchObject({ vocab_size: 6, eos_token_id: 3, eos_token_ids: [3] })
    expect(tokenizer.pad_token_id).toBe(4)
    expect(tokenizer.tokens).toEqual(['a', 'b', 'ab', '<end>', '<pad>', '<think>'])
    expect(encode('abba')).toEqual([2, 1, 0])
    expect(decode([2, 4, 5, 3, 0])).toBe('ab<pad><think>')
    expect(decode([2, 4, 5, 3, 0], { skip_special_tokens: true })).toBe('ab<think>')
  })

  test('names of special tokens in a text are their ids, unless they are to stay text', async () => {
    const tokenizer = await load()
    expect(tokenizer.encode('a<end>')).toEqual([0, 3])
    expect(tokenizer.encode('a<end>', { split_special_tokens: true })).toEqual([0])
    expect(tokenizer.specialIn('a<end>')).toBe('<end>')
    expect(tokenizer.specialIn('a<think>')).toBeUndefined()
  })

  test('generation_config.json lists further end tokens', async () => {
    const file = { 'generation_config.json': '{"eos_token_id": [4, 3]}' }
    const { eos_token_id, eos_token_ids, decode } = await load({}, {}, file)
    expect([eos_token_id, eos_token_ids]).toEqual([3, [3, 4]])
    expect(decode([0, 4, 0])).toBe('a')
  })

  test('special_tokens_map.json says what tokenizer_config.json leaves out; padding is else the end', async () => {
    const map = { 'special_tokens_map.json': '{"eos_token": {"content": "<pad>"}}' }
    const none = { eos_token: undefined, pad_token: undefined }
    expect(await load({}, none, map)).toMatchObject({ eos_token_id: 4, pad_token_id: 4 })
  })

  test('replacements that grow a text without end are refused by name', async () => {
    const grow = { type: 'Replace', pattern: { String: 'a' }, content: 'aa'.repeat(50) }
    const normalizer = { type: 'Sequence', normalizers: Array.from({ length: 9 }, () => grow) }
    const { encode } = await load({ normalizer })
    expect(() => encode('a')).toThrow(
      /tokenizer\.json: Replace\.pattern: \{"String":"a"\}: a text of \d+ characters grew to more than/,
    )
    const prepend = { type: 'Prepend', prepend: 'x'.repeat(10_000_001) }
    await expect(load({ normalizer: prepend })).rejects.toThrow(
      /tokenizer\.json: Prepend\.prepend: a text of 7 characters grew/,
    )
    const decoder = { type: 'Sequence', decoders: normalizer.normalizers }
    const { decode } = await load({ decoder })
    expect(() => decode([0])).toThrow(/Replace\.pattern.*grew to more than/)
  })

  test.for<[why: string, files: TokenizerFiles, message: RegExp]>([
    ['no JSON', { 'tokenizer.json': '<html>' }, /tokenizer\.json: expected JSON/],
    ['a list', { 'tokenizer.json': '[]' }, /expected an object/],
    [
      'no model',
      { 'tokenizer.json': '{}' },
      /model: expected an object; this file is no tokenizer/,
    ],
    [
      'a model of another type',
      filesOf({ model: { type: 'Magic' } }),
      /model\.type: .*found Magic/,
    ],
    ['no vocabulary', filesOf({ model: { type: 'BPE', merges: [] } }), /model\.vocab: expected an/],
    [
      'a hole',
      filesOf({ model: { type: 'WordLevel', vocab: { a: 0, b: 2 } } }),
      /expected every id from 0 to 5, 1 is missing/,
    ],
    [
      'one id twice',
      filesOf({ model: { type: 'WordLevel', vocab: { a: 0, b: 0 } } }),
      /expected one token for id 0, found "a" and "b"/,
    ],
    [
      'one token with two ids',
      filesOf({ added_tokens: [{ id: 3, content: 'a' }] }),
      /expected one id for "a", found 0 and 3/,
    ],
    ['a negative id', filesOf({ model: { type: 'WordLevel', vocab: { a: -1 } } }), /found -1/],
    [
      'a merge of unknown tokens',
      filesOf({ model: { ...JSON_FILE.model, merges: ['b a'] } }),
      /merges\[0\]: "ba" is not in model\.vocab/,
    ],
    [
      'a part without code',
      filesOf({ normalizer: { type: 'Precompiled' } }),
      /normalizer: .*found Precompiled, which this lab does not follow/,
    ],
    [
      'a prototype-named part',
      filesOf({ decoder: { type: 'constructor' } }),
      /decoder: expected one of/,
    ],
    [
      'a pattern that is none',
      filesOf({ pre_tokenizer: { type: 'Split', pattern: { Regex: '(' } } }),
      /Split\.pattern/,
    ],
    ['no end token', filesOf({}, { eos_token: null }), /eos_token: expected one in/],
    ['an unknown end token', filesOf({}, { eos_token: '<x>' }), /eos_token: "<x>" is not a token/],
    [
      'an end token beyond the vocabulary',
      filesOf({}, {}, { 'generation_config.json': '{"eos_token_id": 9}' }),
      /eos_token_id: expected ids below 6, found 9/,
    ],
    [
      'a template that is none',
      filesOf({}, { chat_template: '{% for %}' }),
      /tokenizer_config\.json: expected a chat template in Jinja/,
    ],
    [
      'a list of templates without texts',
      filesOf({}, { chat_template: [{ name: 'default' }] }),
      /chat_template: expected a text, or a list of/,
    ],
  ])('%s is refused in a sentence', async ([, files, message]) => {
    await expect(loadTokenizer(files)).rejects.toThrow(message)
  })
})

describe('chat templates', () => {
  const user = [{ role: 'user', content: 'hi' }]
  const render = async (chat_template: unknown, options = {}, more = {}) => {
    const { renderChat } = await load({}, { chat_template }, more)
    return renderChat?.(user, options)
  }

  test('a function that is not offered is refused by its name, file and remedy', async () => {
    await expect(render("{{ strftime_now('%d %b') }}{{ bos_token }}")).rejects.toThrow(
      /tokenizer_config\.json: the chat template calls strftime_now, which is not offered here\..*write a fixed date/,
    )
    await expect(
      render('{% macro own() %}x{% endmacro %}{{ own() }}{{ lookup(1) }}'),
    ).rejects.toThrow(/calls lookup, which is not offered/)
    for (const filter of ['messages', "'a'", '3', 'messages[0]', 'true'])
      await expect(render(`{{ ${filter} | rot13 }}`)).rejects.toThrow(
        /^tokenizer_config\.json: the chat template uses the filter rot13, which is not offered here\./,
      )
    await expect(render('{% if messages is odder %}x{% endif %}')).rejects.toThrow(
      /the chat template uses the test odder, which is not offered here\./,
    )
    await expect(render("{{ 'a'.rot13() }}")).rejects.toThrow(
      /the chat template calls rot13, which/,
    )
    // What is not reached is not missing.
    await expect(
      render("{% if strftime_now is defined %}{{ strftime_now('') }}{% endif %}{{ rot13(1) }}"),
    ).rejects.toThrow(/calls rot13, which .*Write what it gives into the template/)
    await expect(
      render('{% if rot13 is not defined %}{{ lookup(f(1)) }}{% endif %}'),
    ).rejects.toThrow(/calls f, which/)
    await expect(render("{{ raise_exception('no system') }}")).rejects.toThrow(
      'the chat template stopped: no system',
    )
    expect(
      await render("{% if strftime_now is defined %}{{ strftime_now('') }}{% else %}x{% endif %}"),
    ).toBe('x')
  })

  test('a folder without one reads plain text', async () => {
    expect((await load()).renderChat).toBeUndefined()
  })

  test('a file wins over the configuration, which may be a list of named templates', async () => {
    const list = [
      { name: 'tool_use', template: 'no' },
      { name: 'default', template: 'listed {{ eos_token }}' },
    ]
    expect(await render(list)).toBe('listed <end>')
    expect(await render(list, {}, { 'chat_template.jinja': 'filed' })).toBe('filed')
  })

  test('blocks take their line with them, and tojson escapes nothing', async () => {
    const template =
      '{% for m in messages %}\n  {% if true %}\n{{ m | tojson }}\n  {% endif %}\n{% endfor %}'
    expect(await render(template)).toBe('{"role": "user", "content": "hi"}\n')
    expect(await render('{{ tools | tojson }}', { tools: [{ 'ä<': 1.5 }] })).toBe('[{"ä<": 1.5}]')
  })

  test.for([
    ['{{ raise_exception("no system role") }}', /chat template stopped: no system role/],
    ['{% for i in range(999999999) %}{% endfor %}', /range: expected at most/],
    [
      '{% set ns = namespace(d="x") %}{% for i in range(100) %}{% set ns.d = {"a": ns.d, "b": ns.d} %}{% endfor %}{{ ns.d | tojson }}',
      /chat template stopped: its lists and objects held more than 10000000 values/,
    ],
    [
      '{% set ns = namespace(d="x") %}{% for i in range(100) %}{% set ns.d = [ns.d, ns.d] %}{% endfor %}{{ ns.d }}',
      /held more than 10000000 values/,
    ],
    [
      '{% set ns = namespace(x="ab") %}{% for i in range(20) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% for i in range(9999) %}{% if "c" in ns.x %}{% endif %}{% endfor %}',
      /handled more than 200000000 characters/,
    ],
    [
      '{% for i in range(999) %}{% for j in range(999) %}{% endfor %}{% endfor %}',
      /took more than 200000 steps/,
    ],
    [
      '{% set ns = namespace(x="ab") %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}',
      /characters/,
    ],
    ['{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', /called one another more than 200 deep/],
  ] as const)('%s ends with a sentence', async ([template, message]) => {
    await expect(render(template)).rejects.toThrow(message)
  })
})

test.for(['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])(
  '%s that is a Git LFS pointer is refused as one',
  async (file) => {
    const files = { ...filesOf(), [file]: 'version https://git-lfs.github.com/spec/v1\nsize 9\n' }
    await expect(loadTokenizer(files)).rejects.toThrow(
      new RegExp(`^${file}: expected .*, found a Git LFS pointer .*\`git lfs pull\``),
    )
  },
)
