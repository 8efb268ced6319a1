// Judges outside the lab what leaves it: transformers computes the same logits, values and token
// ids, and reward.py scores as the task does.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import { runModels } from '../jobs/model_folders.ts'
import { experimentOf, filesOf, sourceOf } from '../jobs/testing.ts'
import { modelFiles } from '../model/hf/write_model.ts'
import { CONFIGS, testWeights } from '../model/testing.ts'
import { logitsRef } from '../model/transformer/policy.ref.ts'
import { forwardRef } from '../model/transformer/transformer.ref.ts'
import { valuesRef } from '../model/transformer/value.ref.ts'
import { createTask, loadTask, TASKS } from '../tasks/index.ts'
import type { Task } from '../tasks/task/task.ts'
import { writeFolder } from './output/file_folder.ts'
import { HAS_PYTHON, hasModules, PATIENCE_MS, PYTHON, python, pythonEnv } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-outside-'))
afterAll(() => rmSync(root, { recursive: true }))

/** The tasks of every vocabulary, by its tokens. */
const VOCABULARIES = new Map<string, string[]>()
for (const { id } of TASKS) {
  await loadTask(id)
  const tokens = createTask(id).tokenizer.tokens.join()
  VOCABULARIES.set(tokens, [...(VOCABULARIES.get(tokens) ?? []), id])
}

const MODEL_CODE = `
import json, sys
import torch, transformers
torch.set_num_threads(1)
asked = json.load(sys.stdin)
answers = []
for case in asked:
    kind = getattr(transformers, case["class"])
    model, info = kind.from_pretrained(case["folder"], output_loading_info=True)
    bad = [n for n in info["missing_keys"] if n != "lm_head.weight"] + list(info["unexpected_keys"])
    assert not bad, bad
    model = model.double().eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([case["ids"]])).logits
    answers.append(logits.flatten().tolist())
print(json.dumps(answers))
`

describe.skipIf(!hasModules('torch', 'transformers'))(
  'transformers',
  { timeout: PATIENCE_MS },
  () => {
    test('computes the logits and values of the lab from what is written', () => {
      const cases = CONFIGS.flatMap((config) => [
        { config, head: 'lm_head' as const, class: 'AutoModelForCausalLM' },
        { config, head: 'value_head' as const, class: 'AutoModelForTokenClassification' },
        { config, head: 'reward_head' as const, class: 'AutoModelForSequenceClassification' },
      ]).map((own, i) => {
        const { config, head } = own
        const { layout, flat, exact } = testWeights(config, 50 * i + 1, head)
        const tokens = ['<pad>', '<eos>', ...'abcdefghijk'].slice(0, config.vocab_size)
        const folder = join(root, `model${i}`)
        const vocabulary = { tokens, pad_token_id: 0, eos_token_id: 1 }
        const written = { config, layout, weights: flat, vocabulary, max_position_embeddings: 64 }
        writeFolder(folder, modelFiles(written, 20_000))
        const ids = [4, 2, 9, 5, 10, 3, 7, 2]
        const width = ids.length
        const ones = ids.map(() => 1)
        const position_ids = ids.map((_, column) => column)
        const batch = { input_ids: ids, attention_mask: ones, position_ids, rows: 1, width }
        const cache = forwardRef(config, exact, batch)
        const values = head === 'lm_head' ? undefined : valuesRef(exact, cache)
        const expected = values
          ? head === 'value_head'
            ? values
            : values.slice(-1)
          : logitsRef(config, exact, cache.normed)
        return { folder, ids, class: own.class, expected }
      })
      const answers = python(MODEL_CODE, cases) as number[][]
      cases.forEach(({ expected, class: name }, i) => {
        expect(answers[i].length, name).toBe(expected.length)
        const error = Math.max(...answers[i].map((x, k) => Math.abs(x - expected[k])))
        // Both compute in float64 from the same float32 weights; rotary angles are float32 there.
        expect(error, name).toBeLessThan(1e-4)
      })
    })

    test('gives the ids of the lab for 200 texts of every vocabulary, and the texts of the ids', () => {
      const cases = [...VOCABULARIES.values()].map((ids, i) => {
        const folder = join(root, `tokenizer${i}`)
        const task = createTask(ids[0])
        writeFolder(folder, runModels(sourceOf(experimentOf({ task: { id: task.id } })), task))
        const texts = Array.from({ length: 200 }, (_, k) => {
          const { prompt, ground_truth } = createTask(ids[k % ids.length]).sample(9, k, 'train')
          return k % 2 === 0 ? prompt : prompt + ground_truth
        })
        return { folder, texts, tokenizer: task.tokenizer }
      })
      expect(cases.length).toBeGreaterThan(2)
      const code = `
import json, sys, transformers
answers = []
for asked in json.load(sys.stdin):
    t = transformers.AutoTokenizer.from_pretrained(asked["folder"])
    ids = [t(text, add_special_tokens=False)["input_ids"] for text in asked["texts"]]
    chat = [t.apply_chat_template([{"role": "user", "content": text}], tokenize=True, add_generation_prompt=True, return_dict=False) for text in asked["texts"]]
    answers.append({"ids": ids, "chat": chat, "texts": [t.decode(row + [1], skip_special_tokens=True) for row in ids], "special": [t.pad_token_id, t.eos_token_id, t.convert_tokens_to_ids("<|im_end|>")]})
print(json.dumps(answers))
`
      const answers = python(
        code,
        cases.map(({ folder, texts }) => ({ folder, texts })),
      )
      expect(answers).toEqual(
        cases.map(({ texts, tokenizer }) => {
          const expected = texts.map((text) => tokenizer.encode(text))
          const { pad_token_id, eos_token_id } = tokenizer
          return {
            ids: expected,
            chat: expected,
            texts,
            special: [pad_token_id, eos_token_id, eos_token_id],
          }
        }),
      )
    })
  },
)

/** Different answers of a policy: right, nearly right, wrong, cut off, too long, empty, and
 * characters in any order. */
function responses({ tokenizer, max_response_length, sample, score }: Task, count = 1200) {
  const signs = tokenizer.tokens.slice(2)
  let state = 7
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  const noise = (length: number) =>
    Array.from({ length }, () => signs[random(signs.length)]).join('')
  const changed = (text: string) => {
    const at = random(text.length)
    return text.slice(0, at) + noise(1) + text.slice(at + 1)
  }
  const swapped = (text: string) => {
    const [i, j] = [random(text.length), random(text.length)]
    return [...text].map((sign, k) => (k === i ? text[j] : k === j ? text[i] : sign)).join('')
  }
  return Array.from({ length: count }, (_, i) => {
    const { prompt, ground_truth } = sample(3, i, 'train')
    const other = sample(3, i + 1, 'train').ground_truth
    const kinds = [
      ground_truth,
      other,
      ground_truth.slice(0, -1),
      ground_truth + noise(1),
      `0${ground_truth}`,
      '',
      noise(1 + random(max_response_length)),
      [...ground_truth].reverse().join(''),
      ` ${ground_truth}`,
      `${ground_truth}\n`,
      changed(ground_truth),
      swapped(ground_truth),
    ]
    const response = kinds[i % kinds.length]
    return { prompt, ground_truth, response, score: score(prompt, response) }
  })
}

/** Scores what is asked of each file in one Python, whose start takes longer than most scores. */
const REWARD_CODE = `
import importlib.util, json, sys
def scored(file, cases):
    spec = importlib.util.spec_from_file_location("reward", file)
    reward = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reward)
    return [reward.compute_score(data_source="x", solution_str=c["response"], ground_truth=c["ground_truth"], extra_info={"index": 0, "prompt": c["prompt"]}) for c in cases]
answers = [scored(one["file"], one["cases"]) for one in json.load(sys.stdin)]
assert all(s["acc"] == (s["score"] == 1) for own in answers for s in own)
print(json.dumps([[s["score"] for s in own] for own in answers]))
`

/** What to ask of a job's reward.py of this task. */
function asked({ id }: Task, cases: ReturnType<typeof responses>) {
  const { text } = filesOf(experimentOf({ task: { id }, phases: [{ kind: 'rl', steps: 1 }] }))
  const file = join(root, `reward_${id}.py`)
  writeFileSync(file, text.get('reward.py') ?? '')
  return { file, cases }
}

const JUDGED = TASKS.map(({ id }) => {
  const task = createTask(id)
  // A story takes a hundred times as long to read as a number.
  const count = id === 'story' && !process.env.LONG_TESTS ? 24 : 1200
  return { id, task, cases: responses(task, count) }
})
const scores = HAS_PYTHON
  ? (python(
      REWARD_CODE,
      JUDGED.map(({ task, cases }) => asked(task, cases)),
    ) as number[][])
  : []

test.skipIf(!HAS_PYTHON).for(JUDGED.map((own, i) => ({ ...own, scored: scores[i] })))(
  'reward.py scores as the task does: $id',
  ({ task, cases, scored }) => {
    expect(scored).toEqual(cases.map(({ score }) => score))
    // All kinds of scores are there, or the comparison says nothing.
    const share = (holds: (score: number) => boolean) =>
      cases.filter((c) => holds(c.score)).length / cases.length
    expect(share((score) => score === 1)).toBeGreaterThan(0.075)
    expect(share((score) => score < 1)).toBeGreaterThan(0.42)
    expect(share((score) => score > 0 && score < 1) > 0).toBe(task.partial_score !== undefined)
    const isFree = !task.exact_match && task.partial_score === undefined
    const others = cases.filter((c) => c.score === 1 && c.response !== c.ground_truth)
    expect(others.length > 0).toBe(isFree)
  },
)

const ASPECT_CODE = REWARD_CODE.replace('assert all', '# ').replace('[s["score"]', '[s')

test.skipIf(!HAS_PYTHON || !process.env.LONG_TESTS)(
  'reward.py says of a story what the lab says of it',
  () => {
    const task = createTask('story')
    const names = (task.aspects ?? []).map(({ id }) => id)
    const parts = names.map((id) => ({ id, weight: 1 }))
    const phases = [{ kind: 'rl', steps: 1 }]
    const { text } = filesOf(experimentOf({ task: { id: 'story' }, reward: { parts }, phases }))
    const file = join(root, 'reward_aspects.py')
    writeFileSync(file, text.get('reward.py') ?? '')
    const cases = responses(task, 100)
    const expected = cases.map(({ prompt, response }) =>
      Object.fromEntries((task.aspects ?? []).map(({ id, of }) => [id, of(prompt, response)])),
    )
    for (const name of names)
      expect(new Set(expected.map((own) => own[name])).size, name).toBeGreaterThan(1)
    expect(python(ASPECT_CODE, [{ file, cases }])).toMatchObject([expected])
  },
)

test.skipIf(!HAS_PYTHON)('reward.py works expressions out as the lab does', () => {
  const task = createTask('countdown')
  const cases = [
    [
      '3,4,5=17',
      ['5+4*3', '(5)+(3*4)', '3*(4+5)', '3*4+5)', '(3*4+5', '3*4+5+', '3**4+5', '03*4+5'],
    ],
    [
      '3,4,5=17',
      ['', '()', '-3*4+5', '3*4', '3*4+5+5', '3 *4+5', '3*4+5\n', '345', '((((3*4)))+5)'],
    ],
    ['2,3=6', ['2*3', '6', '2/(3-3)', '2*3*1', '3/(2/4)']],
    [
      '3,3,5,8,9=9',
      ['9+8/(5/(3-3))', '9+8/(5/(3-3)', '9-8/(5/(3-3))', '(3-3)/(3-3)+9', '5*8/(3-3)'],
    ],
    ['1,3,3=1', ['3/3*1', '1/3*3', '3*(1/3)', '3/(3/1)', '1*3/3']],
  ].flatMap(([prompt, texts]) =>
    [...texts].map((response) => ({
      prompt: `${prompt}`,
      ground_truth: '',
      response,
      score: task.score(`${prompt}`, response),
    })),
  )
  expect(cases.filter(({ score }) => score === 1).length).toBeGreaterThan(9)
  expect(python(REWARD_CODE, [asked(task, cases)])).toEqual([cases.map(({ score }) => score)])
})

test.skipIf(!HAS_PYTHON)('check.py needs no package, and finds what is broken', () => {
  const experiment = presetOf('tiny-ppo')?.experiment ?? experimentOf({})
  const folder = join(root, 'mein Job')
  const { files } = filesOf(experiment)
  writeFolder(folder, files)
  const check = () =>
    spawnSync(PYTHON, ['-S', join(folder, 'check.py')], { encoding: 'utf8', env: pythonEnv })
  const whole = check()
  expect(whole.stdout).toMatch(/\d+ passed, 0 failed, \d+ skipped\n$/)
  expect(whole.status).toBe(0)
  rmSync(join(folder, 'data/val.parquet'))
  writeFileSync(
    join(folder, 'reward.py'),
    'def compute_score(*a, **k):\n    return {"score": 1.0}\n',
  )
  const broken = check()
  expect(broken.status).toBe(1)
  expect(broken.stdout).toMatch(/FAILED {3}files +AssertionError: missing: data\/val\.parquet/)
  expect(broken.stdout).toMatch(/FAILED {3}reward/)
})
