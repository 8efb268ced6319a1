// Asks which function of a program scores: those that the sandbox finds in it.
import { useEffect, useState } from 'react'
import {
  type FoundFunction,
  functionsOf,
  type PartChoice,
} from '../../../page/trials/reward_trial.ts'

interface MenuProps {
  readonly part: PartChoice
  readonly place: number
  onChange(part: PartChoice): string | undefined
}

/** Nothing of a program that does not begin: its trial says why. */
function useFunctions(code: string, name: string): readonly FoundFunction[] {
  const [found, setFound] = useState<readonly FoundFunction[]>([])
  useEffect(() => {
    let isWanted = true
    functionsOf({ code, name }).then(
      ({ functions }) => isWanted && setFound(functions),
      () => isWanted && setFound([]),
    )
    return () => {
      isWanted = false
    }
  }, [code, name])
  return found
}

export function FunctionMenu({ part, place, onChange }: MenuProps) {
  const { function: chosen = '', ...rest } = part
  const functions = useFunctions(`${part.code}`, `${part.name}`)
  const rewards = functions.filter(({ isReward }) => isReward)
  const isPlain = rewards.length === 1 && rewards[0].name === 'compute_score'
  if (chosen === '' && (functions.length === 0 || isPlain)) return null
  const names = [...new Set([...functions.map(({ name }) => name), `${chosen}`])].filter(Boolean)
  const shownOf = (name: string) => functions.find((own) => own.name === name)
  return (
    <label className="reward-function">
      function{' '}
      <select
        value={`${chosen}`}
        data-testid={`reward-function-${place}`}
        onChange={({ target }) =>
          onChange(target.value === '' ? rest : { ...rest, function: target.value })
        }
      >
        <option value="">compute_score, or the only one</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {shownOf(name)?.shown ?? name}
            {shownOf(name)?.isReward === false ? ' (a helper)' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}
