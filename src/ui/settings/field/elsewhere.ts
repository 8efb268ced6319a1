// Says of parts of other systems which have no setting here what they are there, and what the lab
// has in their place.

/** The first names that people search for, in lower case, without signs. */
const PARTS: readonly (readonly [names: RegExp, is: string])[] = [
  [
    /^(vllm|sglang|hfrollout|gpumemoryutilization|enforceeager|freecacheengine)/,
    'vLLM and SGLang are what samples responses in verl. The lab samples with its own kernels on this GPU; search for “rollout” to find what can be set.',
  ],
  [
    /^(flash|attnimpl|sdpa|xformers|useremovepadding)/,
    'FlashAttention is how verl and TRL compute attention on GPUs. The lab has kernels of its own for it and chooses by the model’s sizes: nothing is to be set.',
  ],
  [
    /^(fsdp|megatron|deepspeed|zero[123]?$|accelerate|ddp|nnodes|ngpus|ray$|(tensor|pipeline|context|data|sequence|ulysses)[a-z]*parallel|tp$|pp$|dp$|(param|optimizer)offload)/,
    'FSDP, Megatron, DeepSpeed and Ray spread a model over several GPUs in verl and TRL. The lab trains on one GPU; search for “memory” to find what saves it.',
  ],
  [
    /^(wandb|weightsandbiases|tensorboard|mlflow|swanlab|logger|reportto|tracking|projectname)/,
    'verl and TRL send their metrics to a logger. The lab keeps every metric of a run itself: under Runs, where runs are compared and saved as files.',
  ],
  [
    /^(unsloth|liger|bitsandbytes|qlora|torchcompile|quanti[sz])/,
    'Faster or smaller kernels of other systems have no place here: the lab has its own. Search for “memory” to find what makes a model smaller.',
  ],
]

/** A sentence about the part that a query names; undefined for any other query. */
export function elsewhereWords(query: string): string | undefined {
  const name = query
    .toLowerCase()
    .replace(/^.*\.(?=.)/, '')
    .replaceAll(/[^a-z\d]/g, '')
  return PARTS.find(([names]) => names.test(name))?.[1]
}
