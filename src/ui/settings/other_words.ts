// Finds a setting by other words: a question in plain words leads to the setting that answers it,
// and so does the name that another system has for it.
import { wordsOf } from '../kit/fuzzy.ts'
import { t } from '../kit/translator.ts'

/** Words of a query, which have others in the page's language, and the end of the path of the
 * settings that they mean. */
const OTHER_WORDS: readonly (readonly [words: string, paths: readonly string[]])[] = [
  ['how fast speed step size pace quickly', ['optim.lr']],
  ['how long duration length of training when stop', ['.steps', '.epochs']],
  ['how big size large small deep wide', ['num_hidden_layers', 'hidden_size', 'intermediate_size']],
  ['how hard difficulty difficult easy harder', ['task.length', 'task.digits', 'task.id']],
  ['how many tries attempts answers group', ['rollout.n']],
  ['how many prompts problems questions batch', ['train_batch_size', 'batch_size']],
  ['how random creative surprising explore', ['rollout.temperature', 'entropy_coeff', 'top_p']],
  ['curious explore exploration uncertain', ['entropy_coeff', 'use_adaptive_entropy']],
  ['how far drift forget stay close leash', ['kl_loss_coef', 'use_kl_loss', 'use_kl_in_reward']],
  ['trust region limit clip careful', ['clip_ratio_low', 'clip_ratio_high']],
  ['async asynchronous old off policy', ['staleness', 'rollout_correction.rollout_is']],
  ['easy first difficulty curriculum', ['curriculum.param', 'admission.max_rate']],
  ['which layer inner depth', ['target_layer']],
  ['which algorithm method estimator grpo ppo gae rloo reinforce++', ['adv_estimator']],
  ['how often test exam check', ['validation.test_freq']],
  ['repeat same again reproduce luck', ['seed']],
  ['forgetful discount future', ['gamma', 'lam']],
  ['reuse passes over data', ['ppo_epochs', '.epochs']],
  ['longest answer cut off', ['max_response_length']],
  ['early stop stopping patience', ['.accuracy', '.score', '.plateau_steps', '.entropy_floor']],
  // Short forms that other trainers and papers have made usual.
  ['kl coef coefficient penalty', ['kl_loss_coef', 'kl_ctrl.kl_coef']],
  ['eps clip range cliprange', ['clip_ratio_low', 'clip_ratio_high']],
  ['max len length new tokens seq ctx context', ['max_response_length']],
  ['bs batch size', ['train_batch_size']],
  ['group size num samples rollouts', ['rollout.n']],
  ['max grad norm gradient clipping', ['grad_clip']],
  ['eval freq every interval', ['validation.test_freq']],
  ['top p nucleus', ['rollout.top_p']],
  ['top k', ['rollout.top_k']],
  ['wd', ['weight_decay']],
  ['bf16 fp16 mixed precision', ['dtype']],
  // TRL's names, as an export writes them.
  ['learning_rate', ['optim.lr']],
  ['num_generations', ['rollout.n']],
  ['max_completion_length', ['rollout.max_response_length']],
  ['per_device_train_batch_size gradient_accumulation_steps', ['actor.ppo_mini_batch_size']],
  ['steps_per_generation', ['rollout.train_batch_size']],
  ['num_iterations', ['actor.ppo_epochs']],
  ['max_steps', ['.steps']],
  ['epsilon', ['actor.clip_ratio_low', 'actor.clip_ratio_high']],
  ['epsilon_high', ['actor.clip_ratio_high']],
  ['beta', ['actor.kl_loss_coef']],
  ['entropy_coef', ['actor.entropy_coeff']],
  ['max_grad_norm', ['actor.grad_clip']],
  ['scale_rewards', ['norm_adv_by_std_in_grpo']],
  ['loss_type', ['actor.loss_agg_mode']],
  ['eval_steps eval_on_start', ['validation.test_freq', 'validation.val_before_train']],
  ['warmup_steps warmup_ratio', ['optim.lr_warmup_steps']],
  ['shuffle_dataset', ['data.shuffle']],
  ['importance_sampling_level', ['actor.loss_mode']],
  ['delta', ['actor.clip_ratio_c']],
  ['sapo_temperature_pos sapo_temperature_neg', ['actor.tau_pos', 'actor.tau_neg']],
  ['adam_beta1 adam_beta2', ['optim.betas.0', 'optim.betas.1']],
  // Those of verl that are not the end of a path.
  ['total_training_steps', ['.steps']],
  ['total_epochs num_train_epochs', ['.epochs', '.steps']],
  ['data.seed rollout.seed actor.data_loader_seed', ['seed']],
  ['model.lora_rank lora_rank lora_r', ['lora.r']],
  ['model.lora_alpha', ['lora.lora_alpha']],
  ['model.target_modules', ['lora.target_modules']],
  ['actor.policy_loss.loss_mode', ['actor.loss_mode']],
  ['actor.optim.clip_grad', ['actor.grad_clip']],
  ['critic.optim.clip_grad', ['critic.grad_clip']],
  ['rollout.val_kwargs.n', ['validation.n']],
  ['rollout.val_kwargs.temperature', ['validation.temperature']],
  ['distillation.distillation_loss.distillation_loss_coef', ['opd_kl_coef']],
  ['distillation.distillation_loss.use_task_rewards', ['use_task_rewards']],
  ['reward.reward_kwargs.overlong_buffer_cfg.len', ['overlong_buffer.len']],
  ['reward.reward_kwargs.overlong_buffer_cfg.penalty_factor', ['buffer.penalty_factor']],
  ['memory cheap save', ['gradient_checkpointing', 'lora.r', 'model.dtype']],
]

/** What an argument of verl's command has around the name that a field has here: signs, its value,
 * and a heading of verl's own. */
const AROUND = /^(?:--|\+\+?)(?=\w)|(?<=\w)=.*$/g
const HEADING = /^(?:actor_rollout_ref|trainer|data(?=\.[mt])|algorithm(?=\.adv))\.(?=.)/

/** Words that say nothing about a setting. */
const EMPTY =
  /^(how|what|which|is|are|the|a|an|of|it|to|do|does|should|i|my|can|much|many|number|when|why)$/

/** The words of a query that say something, those of verl's command by the names of the fields. */
export function askedWords(query: string): string[] {
  const words = wordsOf(query).map((word) => word.replaceAll(AROUND, '').replace(HEADING, ''))
  const telling = words.filter((word) => !EMPTY.test(word))
  return telling.length > 0 ? telling : words
}

/** The names that other systems have for the setting with this path. */
export const otherNames = (path: string): string[] =>
  OTHER_WORDS.filter(([, paths]) => paths.some((end) => path.endsWith(end)))
    .flatMap(([known]) => known.split(' '))
    .filter((word) => /[._]/.test(word))

/** Whether words of a question, other than its small ones, all mean a setting with this path. */
export function isMeant(words: readonly string[], path: string): boolean {
  const telling = words.map((word) => word.replace(/[?.!,]+$/, '')).filter((w) => !EMPTY.test(w))
  if (telling.length === 0) return false
  return OTHER_WORDS.some(([known, paths]) => {
    const all = `${known} ${t(known)}`.split(/[ 、]/)
    return paths.some((end) => path.endsWith(end)) && telling.every((word) => all.includes(word))
  })
}
