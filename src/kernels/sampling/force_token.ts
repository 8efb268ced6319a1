// Declares the kernel that writes given tokens over sampled ones.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import wgsl from './force_token.wgsl?raw'

/** What nobody sampled but a row reads all the same, such as a tool's answer: runs behind
 * sample_token and overwrites what that wrote at `position`, for rows whose forced[row, position]
 * is not 0. It holds the token + 1. The log-prob and the entropy of a forced token are 0, and its
 * row counts as not ended.
 *
 * forced, response_ids, rollout_log_probs, rollout_entropy [rows, response_length], ended and
 * next_ids [rows], attention_mask [rows, width], set at `column`. */
export const force_token = defineKernel({
  name: 'force_token',
  wgsl,
  params: { rows: 'u32', response_length: 'u32', position: 'u32', width: 'u32', column: 'u32' },
  bindings: {
    forced: 'read u32',
    ended: 'read_write u32',
    response_ids: 'read_write u32',
    rollout_log_probs: 'read_write',
    rollout_entropy: 'read_write',
    next_ids: 'read_write u32',
    attention_mask: 'read_write u32',
  },
  workgroups: ({ rows }) => foldGrid(Math.ceil(rows / 64)),
  cost: ({ rows }) => ({ flops: 0, bytes: 4 * rows }),
})
