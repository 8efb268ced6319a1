// Lists the terms that the page uses: what each means in plain words, its formula where one says it
// better, and the lesson that says more.

export interface Term {
  readonly id: string
  readonly name: string
  /** How texts of the page say it, the plural with s aside; the name where none is given. */
  readonly words?: readonly string[]
  readonly says: string
  readonly tex?: string
  /** Id of a lesson (lessons/lessons.ts). */
  readonly lesson?: string
}

export const TERMS: readonly Term[] = [
  {
    id: 'adamw',
    name: 'AdamW',
    words: ['AdamW', 'optimizer'],
    says: 'The rule that turns gradients into changes of the weights. It keeps running means of each gradient and of its square, and shrinks weights a little at every step.',
  },
  {
    id: 'advantage',
    name: 'Advantage',
    says: 'How much better a response did than what was expected of it. Training makes responses with a positive advantage likelier, and others less likely.',
    tex: '\\hat A_i = \\frac{r_i - \\operatorname{mean}(r)}{\\operatorname{std}(r)}',
    lesson: 'grpo-by-hand',
  },
  {
    id: 'bupo',
    name: 'BuPO',
    says: 'Bottom-up Policy Optimization: some steps first train the policy that an inner layer already holds, then the whole model is trained.',
    lesson: 'bupo',
  },
  {
    id: 'entropy-change',
    name: 'Change of entropy',
    words: ['ΔH_FFN', 'ΔH_ATTN', 'ΔH'],
    says: 'A change of entropy in nats. Of attention and of the feed-forward (FFN): the entropy of what it writes less that of its own input. Of a layer: that of the raw state after it less that of the one before.',
    tex: '\\Delta H_{\\text{FFN}} = H(F^l) - H(\\operatorname{norm}_{\\text{FFN}}(H^{l-1} + A^l))',
    lesson: 'layer-policies',
  },
  {
    id: 'checkpoint',
    name: 'Checkpoint',
    says: 'The whole state of a run between two steps: weights, optimizer, position in the data. A run continues from it with the same bits.',
  },
  {
    id: 'clip',
    name: 'Clip',
    words: ['clip fraction', 'clipped', 'clipping', 'clip'],
    says: 'A token’s ratio counts only up to a limit, so one update cannot move the policy far. The clip fraction is the share of tokens that reach the limit.',
    tex: '\\min\\left(\\rho\\hat A,\\ \\operatorname{clip}(\\rho, 1-\\varepsilon, 1+\\varepsilon)\\,\\hat A\\right)',
    lesson: 'ppo',
  },
  {
    id: 'cosine',
    name: 'Cosine',
    says: 'How far two directions agree, whatever their lengths: 1 where they are the same, 0 where they have nothing in common, −1 where they are opposite.',
  },
  {
    id: 'critic',
    name: 'Critic',
    says: 'A second network that says, at every token, which reward is to be expected. PPO compares what came with what it said.',
    lesson: 'ppo',
  },
  {
    id: 'cross-entropy',
    name: 'Cross-entropy',
    says: 'How surprised the policy is by a given text: the mean of −log of the probability of its tokens. Imitation makes it small.',
    tex: '-\\tfrac1T\\textstyle\\sum_t \\log\\pi(a_t\\mid s_t)',
    lesson: 'sft-against-rl',
  },
  {
    id: 'curriculum',
    name: 'Curriculum',
    says: 'Problems in an order of difficulty: training begins with easy ones, and harder ones come as the policy learns.',
  },
  {
    id: 'dapo',
    name: 'DAPO',
    says: 'GRPO with four changes: a higher upper clip, prompts whose group has no difference are replaced, every token counts alike, and a soft limit of the length.',
    lesson: 'dapo',
  },
  {
    id: 'demonstration',
    name: 'Demonstration',
    says: 'A text that is to be imitated: a prompt with a response. Not every demonstration has to be right.',
    lesson: 'sft-against-rl',
  },
  {
    id: 'embedding',
    name: 'Embedding',
    says: 'The table with one row of numbers for each token. A text enters the model as rows of it; here the same table turns the model’s last state into a policy.',
    lesson: 'layer-policies',
  },
  {
    id: 'entropy',
    name: 'Entropy',
    says: 'How undecided a policy is about the next token: 0 where one token is certain, ln V where all V are alike.',
    tex: 'H = -\\textstyle\\sum_a \\pi(a)\\log\\pi(a)',
    lesson: 'entropy',
  },
  {
    id: 'entropy-target',
    name: 'Entropy target',
    says: 'An entropy that the policy is to keep. While it has less, the weight of the bonus for entropy grows from step to step; while it has more, the weight falls.',
    lesson: 'entropy',
  },
  {
    id: 'gae',
    name: 'GAE',
    says: 'Generalized advantage estimation: advantages per token, from rewards and what the critic expected, with λ between trust in the critic and trust in what came.',
    tex: '\\hat A_t = \\textstyle\\sum_k (\\gamma\\lambda)^k\\,\\delta_{t+k}',
    lesson: 'ppo',
  },
  {
    id: 'gradient-norm',
    name: 'Gradient norm',
    says: 'The length of the vector of all gradients. Where it is above a limit all gradients are made smaller together.',
  },
  {
    id: 'greedy',
    name: 'Greedy',
    says: 'The likeliest token is taken at every place, without chance.',
  },
  {
    id: 'group',
    name: 'Group',
    words: ['informative group', 'group'],
    says: 'The responses to one prompt. GRPO and RLOO compare them with each other: where all have the same score there is nothing to learn, so such a group is not informative. REINFORCE++ and PPO do not, and learn from every response.',
    lesson: 'grpo-by-hand',
  },
  {
    id: 'grpo',
    name: 'GRPO',
    says: 'Group relative policy optimization: a response is worth what it scored above the mean of its group. It needs no critic.',
    lesson: 'grpo-by-hand',
  },
  {
    id: 'held-out',
    name: 'Held-out',
    words: ['held-out', 'never trained on'],
    says: 'Problems that are kept aside and never trained on. They show whether the model learned the task or the problems.',
  },
  {
    id: 'holm',
    name: 'Holm’s correction',
    says: 'Of many comparisons some look clear by chance alone. Holm’s correction asks more of each of them, the more there are.',
  },
  {
    id: 'imitation',
    name: 'Imitation',
    words: ['imitation', 'warm start', 'SFT'],
    says: 'Supervised fine-tuning: the model learns to write given responses. A run begins with it, so that reinforcement finds something to reward.',
    lesson: 'sft-against-rl',
  },
  {
    id: 'inner-layer',
    name: 'Inner layer',
    words: ['inner layer', 'inner policy', 'inner phase'],
    says: 'A block below the last one. Read through the embedding, its state is a policy too, and a phase can train that policy and the blocks below it.',
    lesson: 'layer-policies',
  },
  {
    id: 'kl',
    name: 'KL',
    words: ['KL', 'divergence'],
    says: 'How far one policy is from another, in nats: 0 where both give every token the same probability. To the reference it keeps a policy near its start; to the old policy it says how far the updates of a step went. An estimate from samples can fall below 0.',
    tex: '\\mathrm{KL}(\\pi\\,\\Vert\\,\\pi_0) = \\textstyle\\sum_a \\pi(a)\\log\\frac{\\pi(a)}{\\pi_0(a)}',
    lesson: 'kl',
  },
  {
    id: 'layer',
    name: 'Layer',
    words: ['layer', 'block'],
    says: 'One block of the transformer: attention, then a small network, both added to what came in. Layer l is the state after l blocks.',
    lesson: 'layer-policies',
  },
  {
    id: 'learning-rate',
    name: 'Learning rate',
    says: 'How far one step moves the weights. Too small and nothing happens; too large and the policy breaks.',
  },
  {
    id: 'log-prob',
    name: 'Log-prob',
    words: ['log-prob', 'logprob', 'log-probability'],
    says: 'The logarithm of the probability that a policy gives to a token. That of a whole response is the sum over its tokens.',
    lesson: 'old-log-probs',
  },
  {
    id: 'lora',
    name: 'LoRA',
    says: 'Low-rank adapters: the weights stay as they are, and two thin matrices beside each are trained. Little memory, and a small file to pass on.',
  },
  {
    id: 'mini-batch',
    name: 'Mini-batch',
    says: 'A part of a step’s responses that makes one update. Later ones of the same step learn from responses of a slightly older policy.',
    lesson: 'ppo',
  },
  {
    id: 'muon',
    name: 'Muon',
    says: 'A rule for matrices that makes every step about equally long in all directions, where AdamW scales each number by itself. Embeddings, norms and biases stay with AdamW.',
  },
  {
    id: 'nat',
    name: 'Nat',
    says: 'The unit of entropy with the natural logarithm; 0.69 nats are one bit, a fair coin.',
    lesson: 'entropy',
  },
  {
    id: 'normed-state',
    name: 'Normed state',
    says: 'The state of a layer read through the model’s final norm, as that of the last layer always is. Its length no longer counts.',
    lesson: 'layer-policies',
  },
  {
    id: 'old-policy',
    name: 'Old policy',
    says: 'The policy that sampled the responses of this step, before its updates. The ratio and the KL of an update are against it.',
    lesson: 'old-log-probs',
  },
  {
    id: 'own-input',
    name: 'Own input',
    says: 'What the attention or the feed-forward of a block computes from: the state through the block’s own norm before it. A normed state is something else: it went through the model’s final norm.',
  },
  {
    id: 'phase',
    name: 'Phase',
    says: 'A part of a run with its own goal: imitation, training a reward model, or reinforcement of one layer or of the whole model.',
  },
  {
    id: 'policy',
    name: 'Policy',
    words: ['final policy', 'policy', 'policies'],
    says: 'A probability for every token that could come next. The model’s own, at its top, is the final policy; every layer below has one too.',
    tex: '\\pi_l = \\operatorname{softmax}(H^l E^\\top)',
    lesson: 'policy-and-reward',
  },
  {
    id: 'ppo',
    name: 'PPO',
    says: 'Proximal policy optimization: updates with a clipped ratio and a critic. Most methods on this page share its clip.',
    lesson: 'ppo',
  },
  {
    id: 'probe',
    name: 'Probe',
    says: 'A measurement of every layer’s policy on some rows of a step. It reads the model and changes nothing.',
  },
  {
    id: 'prompt',
    name: 'Prompt',
    says: 'What the model is asked. It is given and not trained on; the response is.',
  },
  {
    id: 'ratio',
    name: 'Ratio',
    says: 'How much likelier a token is under the policy now than under the one that sampled it. 1 before the first update.',
    tex: '\\rho_t = \\frac{\\pi(a_t\\mid s_t)}{\\pi_{\\text{old}}(a_t\\mid s_t)}',
    lesson: 'ppo',
  },
  {
    id: 'raw-state',
    name: 'Raw state',
    says: 'The state of a layer read as it is, without a norm. Where it is longer its policy looks surer.',
    lesson: 'layer-policies',
  },
  {
    id: 'reference',
    name: 'Reference',
    words: ['reference policy', 'reference'],
    says: 'A copy of the policy from the start of reinforcement. A KL to it keeps the model near what it could already do.',
    lesson: 'kl',
  },
  {
    id: 'reinforce',
    name: 'REINFORCE++',
    says: 'No groups and no critic: the mean over the whole batch is what is expected of a response.',
    lesson: 'grpo-by-hand',
  },
  {
    id: 'reinforcement',
    name: 'Reinforcement',
    words: ['reinforcement learning', 'reinforcement'],
    says: 'The model tries, a rule scores what it wrote, and what scored above expectation becomes likelier. Nobody shows it the answer.',
    lesson: 'sft-against-rl',
  },
  {
    id: 'response',
    name: 'Response',
    says: 'What the model writes after a prompt, up to its end token or the limit of length.',
  },
  {
    id: 'reward',
    name: 'Reward',
    words: ['reward', 'score'],
    says: 'The number that a response earns, most often 1 for right and 0 for wrong. It is all that reinforcement is told.',
    lesson: 'policy-and-reward',
  },
  {
    id: 'reward-model',
    name: 'Reward model',
    words: ['reward model', 'reward models'],
    says: 'A network that learned from pairs of responses which one people prefer. Its score stands in for them, and can be hacked.',
    tex: '-\\log\\sigma\\left(s_{\\text{better}} - s_{\\text{worse}}\\right)',
    lesson: 'rlhf',
  },
  {
    id: 'rlhf',
    name: 'RLHF',
    says: 'Reinforcement learning from human feedback: people compare responses, a reward model learns from that, reinforcement follows it.',
    lesson: 'rlhf',
  },
  {
    id: 'rloo',
    name: 'RLOO',
    says: 'A response is worth what it scored above the mean of the others of its group, itself left out.',
    tex: '\\hat A_i = r_i - \\tfrac{1}{G-1}\\textstyle\\sum_{j\\ne i} r_j',
    lesson: 'grpo-by-hand',
  },
  {
    id: 'rollout',
    name: 'Rollout',
    says: 'The part of a step in which the model writes its responses, token by token, drawn from the final policy.',
    lesson: 'policy-and-reward',
  },
  {
    id: 'sampled',
    name: 'Sampled',
    words: ['sampled', 'sampling'],
    says: 'Tokens are drawn by chance, each as often as the policy says. So one prompt has many responses.',
  },
  {
    id: 'seed',
    name: 'Seed',
    says: 'The number that all chance of a run follows from. The same experiment with the same seed on the same adapter gives the same bits.',
  },
  {
    id: 'staleness',
    name: 'Staleness',
    words: ['staleness', 'stale'],
    says: 'How many steps old the policy is that a step’s samples are from. Systems that sample and train at once have some.',
  },
  {
    id: 'teacher',
    name: 'Teacher',
    words: ['teacher', 'distillation'],
    says: 'A policy that the trained one learns from: another model, an earlier state, or the last layer. It says of every token how likely it finds it, which tells more than a reward.',
  },
  {
    id: 'temperature',
    name: 'Temperature',
    says: 'Divides the scores of all tokens before sampling: below 1 likely tokens become likelier, above 1 chance counts more.',
  },
  {
    id: 'token',
    name: 'Token',
    says: 'A piece of text that the model reads and writes as one: here mostly a single character.',
    lesson: 'policy-and-reward',
  },
  {
    id: 'step',
    name: 'Update',
    words: ['update'],
    says: 'One change of the weights. A step of reinforcement samples, scores, and then makes one update for each mini-batch.',
  },
  {
    id: 'vocabulary',
    name: 'Vocabulary',
    says: 'All tokens that a model knows; V is their number.',
  },
]

export const termOf = (id: string): Term | undefined => TERMS.find((term) => term.id === id)

const stem = (word: string): string => word.toLowerCase().replace(/(?:ies|y|es|s)$/, '')

/** A word that was pressed, as a title, where the term's name is another one. */
export function otherWord(word: string, name: string): string | undefined {
  const [pressed, named] = [word, name].map(stem)
  if (pressed.includes(named) || named.includes(pressed)) return undefined
  return word.charAt(0).toUpperCase() + word.slice(1)
}
