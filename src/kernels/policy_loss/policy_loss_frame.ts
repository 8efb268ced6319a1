// The one interface of all policy losses, so that a trainer can exchange them without knowing which it runs.
import { defineKernel } from '../device/kernel.ts'
import frame from './policy_loss_frame.wgsl?raw'

/** A policy loss: `body` is its WGSL without Params, bindings and add_sums, which policy_loss_frame.wgsl brings. */
export function policyLoss(name: string, body: string) {
  return defineKernel({
    name,
    wgsl: body + frame,
    params: {
      rows: 'u32',
      response_length: 'u32',
      clip_ratio_low: 'f32',
      clip_ratio_high: 'f32',
      clip_ratio_c: 'f32',
      tau_pos: 'f32',
      tau_neg: 'f32',
      sequence_scale: 'f32',
      select_count: 'u32',
      clip_cov_lb: 'f32',
      clip_cov_ub: 'f32',
      ppo_kl_coef: 'f32',
      seed: 'u32',
    },
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
export type PolicyLossKernel = ReturnType<typeof policyLoss>
