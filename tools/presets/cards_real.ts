// Holds the words of the cards for models from elsewhere: their planned memory, and that nobody has
// run them.
import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import { planMemory } from '../../src/rl/train/parts/memory.ts'
import { type CardText, computed, type Figure, says, setting } from './card_text.ts'

const planned: Figure = ({ experiment }) =>
  `${(planMemory(trainerConfig(experiment)).total() / 1e9).toFixed(2)} GB`
const rows = computed(({ rollout }) => rollout.train_batch_size * rollout.n)

const unrun = says`Not run on real weights, and not on a GPU, by us. Planned: ${planned} of GPU memory for ${rows} responses of up to ${setting('rollout.max_response_length')} tokens to short prompts. First open the model: Open a model …, ${setting('model.source_name')}, then Train from it, and choose rows for its tokenizer.`

/** By preset. */
export const REAL_CARDS: Readonly<Record<string, CardText>> = {
  'smollm2-135m-countdown': says`${unrun} No gain of this model by reinforcement has been published.`,
  'qwen3-0-6b-gsm8k': says`${unrun} The settings are those of TRL's replication of LoRA Without Regret. Others have published gains of the base model with all weights in training, and losses of the post-trained one with short responses.`,
}
