import { expect, test } from 'vitest'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { initialState } from '../../../page/state/store.ts'
import { findFields } from '../settings_search.ts'
import { elsewhereWords } from './elsewhere.ts'

const fields = experimentFields(initialState().experiment)

test.for([
  ['vllm', /samples responses in verl/],
  ['SGLang', /samples responses in verl/],
  ['actor_rollout_ref.rollout.gpu_memory_utilization', /samples responses in verl/],
  ['flash attention', /how verl and TRL compute attention/],
  ['flash_attn', /how verl and TRL compute attention/],
  ['fsdp', /spread a model over several GPUs/],
  ['tensor_model_parallel_size', /spread a model over several GPUs/],
  ['wandb', /keeps every metric of a run itself/],
  ['QLoRA', /the lab has its own/],
] as const)('%s is a part of another system, which the lab has in another way', ([query, says]) => {
  expect(elsewhereWords(query)).toMatch(says)
})

test.for(['lora', 'kl', 'temp', 'batch', 'lr', 'warmup', 'memory', 'data', 'ray of light', 'bf16'])(
  '%s finds what the lab has',
  (query) => {
    expect(elsewhereWords(query)).toBeUndefined()
    if (query !== 'ray of light') expect(findFields(query, fields)).not.toEqual([])
  },
)
