// Checks names and settings of the parts of a reward: those that are given, checked against their
// declaration, and the defaults of the rest.
import type { Params, ParamValue, RewardKind, RewardParam } from './reward.ts'

/** The settings of a kind with every default. Throws RangeError for unknown names and illegal
 * values. */
export function fillParams(
  { params }: Pick<RewardKind, 'params'>,
  given: Readonly<Record<string, ParamValue>>,
): Params {
  for (const name of Object.keys(given))
    if (!params.some((param) => param.name === name))
      throw new RangeError(
        `expected settings of ${params.map((param) => param.name).join(', ') || 'none'}, got ${name}`,
      )
  return Object.fromEntries(
    params.map((param) => {
      const value = Object.hasOwn(given, param.name) ? given[param.name] : param.default
      const expected = expectedOf(param, value)
      if (expected)
        throw new RangeError(
          `expected ${param.name} to be ${expected}, got ${JSON.stringify(value)}`,
        )
      return [param.name, value]
    }),
  )
}

/** What a setting expects, where the value is not that. */
function expectedOf(param: RewardParam, value: ParamValue): string | undefined {
  switch (param.kind) {
    case 'number': {
      const whole = Number.isInteger(param.step)
      const { min, max } = param
      const holds = typeof value === 'number' && value >= min && value <= max
      return holds && (!whole || Number.isInteger(value))
        ? undefined
        : `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`
    }
    case 'select':
      return param.options.includes(`${value}`) ? undefined : `one of ${param.options.join(', ')}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'text':
      return typeof value === 'string' && value.length <= param.max
        ? undefined
        : `a text of at most ${param.max} characters`
  }
}

/** The names under which parts are reported: their ids, or the function of a program that was
 * chosen, with a number where one occurs again. */
export function partNames(
  parts: readonly { readonly id: string; readonly function?: ParamValue }[],
): string[] {
  const names = parts.map(({ id, function: chosen }) => (chosen ? `${chosen}` : id))
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((own) => own === name).length
    return before === 0 ? name : `${name}_${before + 1}`
  })
}
