// Holds what torch.optim.Muon did to small matrices, as settings of the lab.
import type { MuonSettings } from './muon.ref.ts'
import recorded from './torch_muon.json' with { type: 'json' }

interface TorchCase {
  readonly rows: number
  readonly columns: number
  readonly weights: readonly number[]
  readonly gradients: readonly (readonly number[])[]
  /** The weights after all gradients: by torch's code in float64, and as it is. */
  readonly in_float64: readonly number[]
  readonly in_bfloat16: readonly number[]
  readonly adjust_lr_fn: string
  readonly settings: MuonSettings
}

/** Absent settings are torch's defaults. */
export const TORCH_CASES: readonly TorchCase[] = recorded.cases.map((own) => {
  const [a, b, c] = own.ns_coefficients ?? [3.4445, -4.775, 2.0315]
  const { lr, weight_decay, lr_ratio, momentum = 0.95, nesterov = true, ns_steps = 5 } = own
  const settings = { lr, weight_decay, lr_ratio, momentum, nesterov, ns_steps, eps: 1e-7 }
  return {
    ...own,
    adjust_lr_fn: own.adjust_lr_fn ?? 'original',
    settings: { ...settings, ns_coefficients: { a, b, c } },
  }
})
