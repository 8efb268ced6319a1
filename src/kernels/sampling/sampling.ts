// Declares the kernels that sample the next token of each row.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import philox from '../wgsl/philox.wgsl?raw'
import sample from './sample_token.wgsl?raw'
import sample_narrow from './sample_token_narrow.wgsl?raw'
import sampling_logits from './sampling_logits.wgsl?raw'

const shared = sampling_logits + philox

/** Samples one token per row from softmax(logits / temperature) and writes everything that follows
 * from it.
 *
 * logits [rows / n, V] → response_ids, rollout_log_probs, rollout_entropy [rows, response_length]
 * at `position`, next_ids [rows], attention_mask [rows, width] at `column` = 1, ended [rows] = 1
 * after an end token. Row r draws from logits row floor(r / n): the first tokens of n responses to
 * one prompt share theirs. End tokens are the first eos_count of eos_token_ids (u32); with
 * eos_count 0 no row ends. A row that has ended gets pad_token_id, zeros, and attention_mask 0.
 *
 * top_k (0 = off) keeps the k largest logits; top_p (1 = off) then keeps the smallest set whose
 * renormalised probability reaches top_p. Ties at the boundary are all kept, and at least one token
 * is. The log-prob and the entropy (nats) are of the full softmax, before these filters, as verl
 * scores; for temperature 0 (argmax, lowest index on ties) they are those at temperature 1.
 *
 * One draw is one uniform of Philox with counter (step, row_offset + row, position, 0) and key
 * (seed_low, seed_high), so a row's token does not depend on how rows are batched. A row with a
 * logit that is not finite draws some token, and its log-prob and entropy are NaN. V is at most
 * 2^24.
 * Everything but rows, n, vocab_size, response_length and width may be live.
 *
 * Source: Fan et al. 2018 (top-k), arXiv 1805.04833; Holtzman et al. 2020 (top-p), arXiv
 * 1904.09751. */
export const sample_token = defineKernel({
  name: 'sample_token',
  wgsl: sample + shared,
  params: {
    rows: 'u32',
    n: 'u32',
    row_offset: 'u32',
    vocab_size: 'u32',
    response_length: 'u32',
    position: 'u32',
    width: 'u32',
    column: 'u32',
    temperature: 'f32',
    top_k: 'u32',
    top_p: 'f32',
    seed_low: 'u32',
    seed_high: 'u32',
    step: 'u32',
    eos_count: 'u32',
    pad_token_id: 'u32',
  },
  bindings: {
    logits: 'read',
    eos_token_ids: 'read u32',
    ended: 'read_write u32',
    response_ids: 'read_write u32',
    rollout_log_probs: 'read_write',
    rollout_entropy: 'read_write',
    next_ids: 'read_write u32',
    attention_mask: 'read_write u32',
  },
  workgroups: ({ rows }) => foldGrid(rows),
  // Softmax and entropy; filters go over the row again and again, how often depends on the logits.
  cost: ({ rows, n, vocab_size }) => ({
    flops: 7 * rows * vocab_size,
    bytes: (4 * rows * vocab_size) / n,
  }),
})

/** sample_token with one invocation per row, quicker for small vocabularies: the same results, to
 * rounding. */
export const sample_token_narrow: typeof sample_token = {
  ...sample_token,
  name: 'sample_token_narrow',
  wgsl: sample_narrow + shared,
  workgroups: ({ rows }) => foldGrid(Math.ceil(rows / 64)),
}

const MAX_NARROW_VOCAB_SIZE = 128
/** One row that is written goes over so many logits in well under a millisecond. */
const MAX_SOON_VOCAB_SIZE = 4096

/** The quicker of the two kernels for this vocabulary; where narrowKernels is false, sample_token.
 * `compilesSoon`: few tokens are sampled, and the narrow kernel compiles in two fifths of the
 * time. */
export const sampleToken = ({
  vocab_size,
  narrowKernels = true,
  compilesSoon = false,
}: {
  readonly vocab_size: number
  readonly narrowKernels?: boolean | undefined
  readonly compilesSoon?: boolean
}): typeof sample_token =>
  narrowKernels && vocab_size <= (compilesSoon ? MAX_SOON_VOCAB_SIZE : MAX_NARROW_VOCAB_SIZE)
    ? sample_token_narrow
    : sample_token
