// An adapter that the lab trained, judged by PEFT and transformers: the adapter on its base, and
// the model that it was merged into. Skipped by name without a Python with torch, transformers and
// peft (UNDERSTORY_PYTHON, else python3).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { tinyExperiment } from '../host/checkpoints/testing.ts'
import { adapterExport, modelExport } from '../jobs/job_files.ts'
import { checkpointSource } from '../jobs/model_folders.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { readHfModel } from '../model/hf/hf_model.ts'
import { readAdapter } from '../model/hf/peft_adapter.ts'
import type { ModelConfig } from '../model/layout/config.ts'
import { factorNames, loraScale } from '../model/layout/lora.ts'
import { unpackWeights } from '../model/layout/params.ts'
import { logitsRef } from '../model/transformer/policy.ref.ts'
import { forwardRef } from '../model/transformer/transformer.ref.ts'
import { Trainer } from '../rl/train/trainer.ts'
import { modelDirectory } from './input/model_dir.ts'
import { writeFolder } from './output/file_folder.ts'
import { hasModules, PATIENCE_MS, python } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-lora-'))
afterAll(() => rmSync(root, { recursive: true }))
const gpu = await Gpu.open()

/** Logits of an adapter on its base, and of a merged model. */
const CODE = `
import json, sys
import torch, transformers, peft
torch.set_num_threads(1)
answers = []
for case in json.load(sys.stdin):
    load = transformers.AutoModelForCausalLM.from_pretrained
    adapted = peft.PeftModel.from_pretrained(load(case["adapter"] + "/base"), case["adapter"])
    with torch.no_grad():
        of = lambda model: model.eval()(input_ids=torch.tensor([case["ids"]])).logits.flatten().tolist()
        answers.append({"adapter": of(adapted), "merged": of(load(case["merged"]))})
print(json.dumps(answers))
`
/** Logits of a model. */
const LOGITS = `
import json, sys
import torch, transformers
torch.set_num_threads(1)
answers = []
for case in json.load(sys.stdin):
    model = transformers.AutoModelForCausalLM.from_pretrained(case["folder"]).eval()
    with torch.no_grad():
        answers.append(model(input_ids=torch.tensor([case["ids"]])).logits.flatten().tolist())
print(json.dumps(answers))
`
const IDS = [4, 2, 9, 5, 10, 3, 7, 2]

const exact = (named: Record<string, Float32Array>) =>
  Object.fromEntries(Object.entries(named).map(([name, x]) => [name, Float64Array.from(x)]))

/** Of the float64 model, for IDS. */
function logitsOf(
  config: ModelConfig,
  params: Parameters<typeof forwardRef>[1],
  adapter?: NonNullable<Parameters<typeof forwardRef>[3]>['adapter'],
) {
  const attention_mask = IDS.map(() => 1)
  const position_ids = IDS.map((_, column) => column)
  const batch = { input_ids: IDS, attention_mask, position_ids, rows: 1, width: IDS.length }
  return logitsRef(config, params, forwardRef(config, params, batch, { adapter }).normed)
}

const furthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((most, x, j) => Math.max(most, Math.abs(x - b[j])), 0)

const LORAS = [
  { r: 4, lora_alpha: 8 },
  { r: 2, use_rslora: true, target_modules: 'q_proj,v_proj,up_proj', layers_to_transform: '1' },
]

describe.skipIf(!hasModules('torch', 'transformers', 'peft'))(
  'PEFT',
  { timeout: PATIENCE_MS },
  () => {
    test('computes what the lab computes, after 20 steps', async () => {
      const cases = []
      for (const [i, lora] of LORAS.entries()) {
        const { model } = tinyExperiment({})
        const experiment = tinyExperiment({
          model: { ...model, lora },
          phases: [
            { kind: 'sft', steps: 16, optim: { lr: 0.02 } },
            { kind: 'rl', steps: 4 },
          ],
        })
        const trainer = await Trainer.create(gpu, trainerConfig(experiment))
        while (!trainer.isFinished) await trainer.next()
        const state = await trainer.exportState()
        gpu.freeAll()
        const run = { trainer: state, experiment, document: experiment, done: 0 }
        const source = { ...checkpointSource(run), understory: 'test' }
        const [adapter, merged] = [join(root, `adapter${i}`), join(root, `merged${i}`)]
        writeFolder(adapter, adapterExport(source))
        writeFolder(merged, modelExport(source))
        cases.push({ adapter, merged, ids: IDS })
      }
      const answers = python(CODE, cases) as { adapter: number[]; merged: number[] }[]
      for (const [i, { adapter }] of cases.entries()) {
        const base = await readHfModel(modelDirectory(join(adapter, 'base')))
        const { lora, factors } = await readAdapter(modelDirectory(adapter), base.layout)
        const params = exact(unpackWeights(base.layout, base.weights))
        const own = { factors: exact(factors), scaleOf: () => loraScale(lora) }
        const logits = (on: boolean) => logitsOf(base.config, params, on ? own : undefined)
        // The adapter does something.
        expect(furthest(logits(true), logits(false))).toBeGreaterThan(0.1)
        expect(furthest(logits(true), answers[i].adapter)).toBeLessThan(1e-4)
        expect(furthest(logits(true), answers[i].merged)).toBeLessThan(1e-4)
        const q = factorNames('model.layers.1.self_attn.q_proj')
        expect(Object.keys(factors)).toContain(q.A)
      }
    })

    test('reads a model all of whose weights were trained, after 20 steps', async () => {
      const experiment = tinyExperiment({
        phases: [
          { kind: 'sft', steps: 16 },
          { kind: 'rl', steps: 4 },
        ],
      })
      const trainer = await Trainer.create(gpu, trainerConfig(experiment))
      while (!trainer.isFinished) await trainer.next()
      const state = await trainer.exportState()
      gpu.freeAll()
      const run = { trainer: state, experiment, document: experiment, done: 0 }
      const folder = join(root, 'trained')
      writeFolder(folder, modelExport({ ...checkpointSource(run), understory: 'test' }))
      const [expected] = python(LOGITS, [{ folder, ids: IDS }]) as number[][]
      const { config, layout, weights } = await readHfModel(modelDirectory(folder))
      const logits = logitsOf(config, exact(unpackWeights(layout, weights)))
      expect(furthest(logits, expected)).toBeLessThan(1e-4)
    })
  },
)
