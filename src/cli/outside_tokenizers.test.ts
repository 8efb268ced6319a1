// Tokenizers judged outside the lab: Hugging Face's own make the same ids and texts from the same
// files, and train the same merges.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ChatMessage } from '../tasks/tokenizers/hugging_face/chat_template.ts'
import { chatTemplate } from '../tasks/tokenizers/hugging_face/chat_template.ts'
import { HfTokenizer } from '../tasks/tokenizers/hugging_face/hf_tokenizer.ts'
import { parseTokenizerJson } from '../tasks/tokenizers/hugging_face/tokenizer_json.ts'
import { loadTokenizer } from '../tasks/tokenizers/load_tokenizer.ts'
import { trainBpe } from '../tasks/tokenizers/train_bpe.ts'
import { hasModules, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-tokenizers-'))
afterAll(() => rmSync(root, { recursive: true }))

const GOLDEN = 'conformance/fixtures/hf/tokenizer_qwen_style'
const golden = JSON.parse(readFileSync(`${GOLDEN}/expected.json`, 'utf8')) as {
  encode: { text: string }[]
  chat: { messages: ChatMessage[] }[]
}
const TEXTS = [
  ...golden.encode.map(({ text }) => text),
  "do not go . 'n't 'm ##ing <mask>  x<mask>y xx axxb [UNK] <0xE2> ΟΔΟΣ İ",
  ' <s> a</s>b  \n<s>',
]

/** Makes tokenizers of every kind from the texts, and says what each makes of them. */
const KINDS_CODE = String.raw`
import json, random, sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders as D, models as M, normalizers as N, pre_tokenizers as P, processors, trainers as T
asked = json.load(sys.stdin)
texts, special = asked["texts"], ["<unk>", "<s>", "</s>", "[UNK]"]
random.seed(1)
quiet = dict(special_tokens=special, show_progress=False)
digits = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
def made(model, trainer, pre=None, norm=None, dec=None):
    t = Tokenizer(model)
    if pre: t.pre_tokenizer = pre
    if norm: t.normalizer = norm
    if dec: t.decoder = dec
    t.train_from_iterator(texts, trainer)
    return t
def byte_level(pre, norm=None, **options):
    trainer = T.BpeTrainer(vocab_size=400, initial_alphabet=P.ByteLevel.alphabet(), **quiet)
    return made(M.BPE(**options), trainer, pre, norm, D.ByteLevel())
split = lambda regex: P.Sequence([P.Split(Regex(regex), "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)])
kinds = {"gpt2": byte_level(P.ByteLevel(add_prefix_space=True)), "llama3": byte_level(split(digits), ignore_merges=True), "qwen": byte_level(split(digits.replace("{1,3}", "")), N.NFC())}
kinds["llama3"].post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
kinds["qwen"].add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False), AddedToken("xx", single_word=True, normalized=False), AddedToken("é", normalized=True)])
kinds["smollm"] = byte_level(P.Sequence([P.Digits(True), P.Punctuation("contiguous"), P.ByteLevel(False)]), N.Sequence([N.NFKC(), N.Lowercase(), N.Strip()]))
pieces = D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
llama2 = json.loads(made(M.BPE(), T.BpeTrainer(vocab_size=300, show_progress=False, special_tokens=special + ["<0x%02X>" % b for b in range(256)]), P.Metaspace(), None, pieces).to_str())
llama2["model"].update(byte_fallback=True, fuse_unk=True, unk_token="<unk>")
llama2["added_tokens"], llama2["pre_tokenizer"] = llama2["added_tokens"][:4], None
llama2["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
kinds["llama2"] = Tokenizer.from_str(json.dumps(llama2))
for scheme in ["always", "first", "never"]:
    kinds["unigram " + scheme] = made(M.Unigram(), T.UnigramTrainer(vocab_size=300, unk_token="<unk>", **quiet), P.Metaspace(prepend_scheme=scheme), N.NFKC(), D.Metaspace(prepend_scheme=scheme))
for lowercase in [True, False]:
    kinds["bert %s" % lowercase] = made(M.WordPiece(unk_token="[UNK]"), T.WordPieceTrainer(vocab_size=300, **quiet), P.BertPreTokenizer(), N.BertNormalizer(lowercase=lowercase), D.WordPiece())
words = {"whitespace": P.Whitespace(), "punctuation": P.Punctuation("merged_with_previous"), "digits": P.Digits(), "three": P.FixedLength(3), "next": P.Split("a", "merged_with_next", invert=True)}
for name, pre in words.items():
    kinds["words " + name] = made(M.WordLevel(unk_token="<unk>"), T.WordLevelTrainer(vocab_size=300, **quiet), pre, N.Sequence([N.NFD(), N.StripAccents()]))
kinds["unknown"] = made(M.BPE(unk_token="<unk>", fuse_unk=True), T.BpeTrainer(vocab_size=100, limit_alphabet=20, **quiet), P.WhitespaceSplit())
kinds["left out"] = made(M.BPE(), T.BpeTrainer(vocab_size=100, limit_alphabet=20, **quiet), P.WhitespaceSplit())
def answers(t):
    t = Tokenizer.from_str(t.to_str())
    of = lambda ids: [ids, t.decode(ids, skip_special_tokens=False), t.decode(ids)]
    encoded = [[t.encode(x).ids, *of(t.encode(x, add_special_tokens=False).ids)] for x in texts]
    drawn = [of([random.randrange(t.get_vocab_size() + 2) for _ in range(9)]) for _ in range(40)]
    t.encode_special_tokens = True
    return {"json": t.to_str(), "encoded": encoded, "drawn": drawn, "split": [t.encode(x, add_special_tokens=False).ids for x in texts]}
print(json.dumps({name: answers(t) for name, t in kinds.items()}))
`

type Decoded = [ids: number[], text: string, skipped: string]
interface Answers {
  readonly json: string
  readonly encoded: [withSpecial: number[], ...Decoded][]
  readonly drawn: Decoded[]
  readonly split: number[][]
}

test.skipIf(!hasModules('tokenizers'))(
  'every kind of tokenizer gives the ids and texts of Rust’s',
  { timeout: PATIENCE_MS },
  () => {
    const kinds = python(KINDS_CODE, { texts: TEXTS }) as Record<string, Answers>
    expect(Object.keys(kinds).length).toBeGreaterThan(15)
    for (const [kind, { json, encoded, drawn, split }] of Object.entries(kinds)) {
      const tokenizer = new HfTokenizer(parseTokenizerJson(json))
      const decoded = (ids: number[]): Decoded =>
        [
          ids,
          tokenizer.decode(ids),
          tokenizer.decode(ids, { skip_special_tokens: true }),
        ] as Decoded
      const own = TEXTS.map((text) => [
        tokenizer.encode(text, { add_special_tokens: true }),
        ...decoded(tokenizer.encode(text)),
      ])
      expect(own, kind).toEqual(encoded)
      expect(
        drawn.map(([ids]) => decoded(ids)),
        kind,
      ).toEqual(drawn)
      const apart = TEXTS.map((text) => tokenizer.encode(text, { split_special_tokens: true }))
      expect(apart, kind).toEqual(split)
    }
  },
)

/** Texts that make pairs of equal frequency, long repeats and merges that spell one text in two
 * ways. */
const TRAINING = {
  texts: TEXTS,
  sums: Array.from(
    { length: 900 },
    (_, i) => `${i % 30}+${(i / 30) | 0}=${(i % 30) + ((i / 30) | 0)}`,
  ),
  repeats: Array.from({ length: 60 }, (_, i) => 'a'.repeat(i) + 'ab'.repeat(i % 7)),
}

const TRAIN_CODE = `
import json, sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer
asked = json.load(sys.stdin)
t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
t.train_from_iterator(asked["trained_on"], trainers.BpeTrainer(vocab_size=600, special_tokens=["<pad>", "<eos>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
loaded = AutoTokenizer.from_pretrained(asked["folder"])
print(json.dumps([json.loads(t.to_str())["model"], [loaded.encode(x, add_special_tokens=False) for x in asked["texts"]], loaded.eos_token_id, loaded.pad_token_id]))
`

describe.skipIf(!hasModules('transformers'))('transformers', { timeout: PATIENCE_MS }, () => {
  test.for(Object.entries(TRAINING))('trains the same merges on %s', async ([name, trained_on]) => {
    const files = trainBpe(trained_on, { vocab_size: 600 })
    if (!files) throw new Error('expected files')
    const folder = join(root, name)
    mkdirSync(folder)
    for (const [file, text = ''] of Object.entries(files)) writeFileSync(join(folder, file), text)
    const tokenizer = await loadTokenizer(files)
    const [model, ids, ...special] = python(TRAIN_CODE, { folder, trained_on, texts: TEXTS }) as [
      object,
      ...unknown[],
    ]
    expect(JSON.parse(files['tokenizer.json']).model).toMatchObject(model)
    expect(TEXTS.map((text) => tokenizer.encode(text))).toEqual(ids)
    expect([tokenizer.eos_token_id, tokenizer.pad_token_id]).toEqual(special)
  })

  test('renders the same conversations, with tools and all characters of JSON', () => {
    const template = readFileSync(`${GOLDEN}/chat_template_advanced.jinja`, 'utf8')
    const render = chatTemplate(template, {}, 'chat_template_advanced.jinja')
    const tools = [
      {
        type: 'function',
        function: { name: 'ä"\\\u0001\u2028', parameters: { n: [1.5, null, true, -0.25] } },
      },
    ]
    const cases = golden.chat.flatMap(({ messages }) =>
      [{}, { tools }, { add_generation_prompt: true, enable_thinking: false }].map((kwargs) => ({
        messages,
        kwargs,
      })),
    )
    const code = `
import json, sys
from transformers.utils.chat_template_utils import render_jinja_template as render
asked = json.load(sys.stdin)
print(json.dumps([render([c["messages"]], chat_template=asked["template"], **c["kwargs"])[0][0] for c in asked["cases"]]))
`
    const expected = python(code, { template, cases })
    expect(cases.map(({ messages, kwargs }) => render(messages, kwargs))).toEqual(expected)
  })
})
