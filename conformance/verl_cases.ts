// Names the code that runs each fixture: one entry per file of golden vectors.
import { ADVANTAGE_CASES, PRODUCTION_ADVANTAGES } from './advantage_cases.ts'
import type { Handler } from './base/fixture.ts'
import { DISTILL_CASES } from './distill/loss_cases.ts'
import { DRIVER_CASES } from './driver_cases.ts'
import { ERROR_CASES } from './error_cases.ts'
import { LOSS_CASES } from './loss_cases.ts'
import { MASKED_CASES, productionWhiten } from './masked_cases.ts'
import { MULTI_TURN_CASES } from './multi_turn_cases.ts'
import { OPTIMIZER_CASES } from './optimizer_cases.ts'
import { POLICY_LOSS_CASES, productionVanilla } from './policy_loss_cases.ts'
import { PREFERENCE_CASES } from './preference/loss_cases.ts'
import { ROLLOUT_CASES } from './rollout_cases.ts'
import { TOKEN_CASES } from './token_cases.ts'
import { TRL_OPTION_CASES } from './trl/option_cases.ts'

const PRODUCTION: Readonly<Record<string, Handler>> = {
  ...PRODUCTION_ADVANTAGES,
  masked_whiten: productionWhiten,
  policy_loss_vanilla: productionVanilla,
}
const PRODUCTION_NAMES = Object.keys(PRODUCTION)

/** verl in its production dtypes; `config.function` says which function. */
const production_float32: Handler = (fixture) =>
  PRODUCTION[fixture.config.choice('function', PRODUCTION_NAMES)](fixture)

/** By the stem of the file's name. */
export const VERL_CASES: Readonly<Record<string, Handler>> = {
  ...ADVANTAGE_CASES,
  ...DISTILL_CASES,
  ...DRIVER_CASES,
  ...ERROR_CASES,
  ...LOSS_CASES,
  ...MASKED_CASES,
  ...MULTI_TURN_CASES,
  ...OPTIMIZER_CASES,
  ...POLICY_LOSS_CASES,
  ...PREFERENCE_CASES,
  ...ROLLOUT_CASES,
  ...TOKEN_CASES,
  ...TRL_OPTION_CASES,
  production_float32,
}
