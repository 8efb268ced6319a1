// Adapters that PEFT trained, judged by PEFT itself: merged weights and logits of every
// architecture. Skipped by name without a Python with torch, transformers and peft
// (UNDERSTORY_PYTHON, else python3).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readHfModel } from '../model/hf/hf_model.ts'
import { withAdapter } from '../model/hf/peft_adapter.ts'
import { modelFiles } from '../model/hf/write_model.ts'
import { unpackWeights } from '../model/layout/params.ts'
import { CONFIGS, testWeights } from '../model/testing.ts'
import { logitsRef } from '../model/transformer/policy.ref.ts'
import { forwardRef } from '../model/transformer/transformer.ref.ts'
import { modelDirectory } from './input/model_dir.ts'
import { writeFolder } from './output/file_folder.ts'
import { hasModules, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-adapter-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Makes an adapter with random factors, saves it, and says what PEFT computes with it. */
const CODE = `
import json, sys
import torch, transformers, peft
torch.manual_seed(3)
torch.set_num_threads(1)
answers = []
for case in json.load(sys.stdin):
    base = transformers.AutoModelForCausalLM.from_pretrained(case["folder"])
    config = peft.LoraConfig(task_type="CAUSAL_LM", **case["lora"])
    model = peft.get_peft_model(base, config)
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(case["adapter"])
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([case["ids"]])).logits
    merged = model.merge_and_unload().state_dict()
    weights = {n: t.flatten().tolist() for n, t in merged.items() if n.endswith("_proj.weight")}
    answers.append({"logits": logits.flatten().tolist(), "weights": weights})
print(json.dumps(answers))
`
interface Answer {
  readonly logits: readonly number[]
  readonly weights: Readonly<Record<string, readonly number[]>>
}

const LORAS = [
  { r: 4, lora_alpha: 8, target_modules: 'all-linear' },
  { r: 3, lora_alpha: 5, target_modules: ['q_proj', 'down_proj'], use_rslora: true },
  {
    r: 2,
    lora_alpha: 4,
    target_modules: ['q_proj', 'up_proj'],
    rank_pattern: { up_proj: 5 },
    alpha_pattern: { up_proj: 1 },
    layers_to_transform: [1],
  },
]
const IDS = [4, 2, 9, 5, 10, 3, 7, 2]

const furthest = (a: readonly number[], b: ArrayLike<number>) =>
  a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)

describe.skipIf(!hasModules('torch', 'transformers', 'peft'))(
  'PEFT',
  { timeout: PATIENCE_MS },
  () => {
    test('merges to the weights and the logits of the lab', async () => {
      const cases = CONFIGS.flatMap((config, i) =>
        LORAS.map((lora, k) => {
          const { layout, flat } = testWeights(config, 10 * i + 1)
          const tokens = ['<pad>', '<eos>', ...'abcdefghijk'].slice(0, config.vocab_size)
          const vocabulary = { tokens, pad_token_id: 0, eos_token_id: 1 }
          const folder = join(root, `model${i}-${k}`)
          const written = { config, layout, weights: flat, vocabulary, max_position_embeddings: 64 }
          writeFolder(folder, modelFiles(written))
          return { config, folder, lora, adapter: join(root, `adapter${i}-${k}`), ids: IDS }
        }),
      )
      const answers = python(CODE, cases) as Answer[]
      for (const [i, { config, folder, adapter }] of cases.entries()) {
        const base = await readHfModel(modelDirectory(folder))
        const merged = await withAdapter(base, modelDirectory(adapter))
        const named = unpackWeights(merged.layout, merged.weights)
        const { logits, weights } = answers[i]
        // PEFT sums in float32.
        for (const [name, expected] of Object.entries(weights))
          expect(furthest(expected, named[name]), `${adapter} ${name}`).toBeLessThan(1e-6)
        const exact = Object.fromEntries(
          Object.entries(named).map(([name, values]) => [name, Float64Array.from(values)]),
        )
        const ones = IDS.map(() => 1)
        const position_ids = IDS.map((_, column) => column)
        const batch = {
          input_ids: IDS,
          attention_mask: ones,
          position_ids,
          rows: 1,
          width: IDS.length,
        }
        const own = logitsRef(config, exact, forwardRef(config, exact, batch).normed)
        expect(logits.length).toBe(own.length)
        expect(furthest(logits, own), adapter).toBeLessThan(1e-4)
      }
    })
  },
)
