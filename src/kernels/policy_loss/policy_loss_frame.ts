// Declares the one interface of all policy losses, so that a trainer can exchange them without
// knowing which it runs.
import { defineKernel, type ParamType } from '../device/base/kernel.ts'
import frame from './policy_loss_frame.wgsl?raw'
import token from './policy_loss_token.wgsl?raw'

/** What the losses add up, in the order of their `sums`. The first four are a policy loss's own (0
 * where it has no such metric), actor/entropy is entropy_loss's, actor/kl_loss is kl_loss's. Each
 * is a mean over one mini-batch, also when several calls see a part of it: the weights of
 * loss_weights hold the divisor. `actor/pg_loss` leaves entropy and KL out; entropy is of the
 * policy being updated, in nats. */
export const POLICY_LOSS_SUMS = [
  'actor/pg_loss',
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/pg_clipfrac_lower',
  'actor/entropy',
  'actor/kl_loss',
] as const

/** WGSL of a loss: its rule for one token (`token_loss`), or a whole pass over the micro-batch
 * (`main`). */
export type PolicyLossCode = { readonly token_loss: string } | { readonly main: string }

/** Parameters of every loss, beside its own numbers. */
const PARAMS = {
  rows: 'u32',
  response_length: 'u32',
  sequence_scale: 'f32',
  select_count: 'u32',
  seed: 'u32',
} as const

/** A policy loss, from its WGSL and the names of the numbers (f32) that it reads as
 * `params.<name>`.
 *
 * log_probs, old_log_probs, advantages, token_weights, pg_weights, rollout_is_weights [rows, R] →
 * d_log_probs [rows, R] (overwritten); sums[0..3] of POLICY_LOSS_SUMS are added to, in nats.
 * Weights come from loss_weights. r is exactly 1 where both log-probs are the same bits; advantage
 * 0 gives a gradient of exactly 0. Tokens with token_weight 0 are not read. sequence_scale = 1 /
 * rows of the mini-batch, for losses of whole responses; select_count and seed are for losses that
 * choose tokens. */
export function policyLossKernel(name: string, code: PolicyLossCode, numbers: readonly string[]) {
  const own = Object.fromEntries(numbers.map((number) => [number, 'f32' as const]))
  const params: Readonly<Record<string, ParamType>> = { ...PARAMS, ...own }
  const body = 'main' in code ? code.main : code.token_loss + token
  return defineKernel({
    name,
    wgsl: body + frame,
    params,
    bindings: {
      log_probs: 'read',
      old_log_probs: 'read',
      advantages: 'read',
      token_weights: 'read',
      pg_weights: 'read',
      rollout_is_weights: 'read',
      d_log_probs: 'read_write',
      sums: 'read_write',
    },
    workgroups: () => [1],
  })
}

/** All policy losses have this type. */
export type PolicyLossKernel = ReturnType<typeof policyLossKernel>
