// Chooses the arms that the curves of a study draw, where there are more than can be told apart.
import type { Analysis } from '../../../document/study/analysis.ts'
import type { Study } from '../../../document/study/study.ts'
import { distinctColors } from '../../../record/run/looks.ts'
import { RUN_COLORS, runColor } from '../../../record/run/record.ts'
import { LineMark } from '../../plot/base/Keys.tsx'

/** Lines beyond these share a colour. */
export const MOST_LINES = RUN_COLORS.length

/** The baseline, and of the other arms those with the best means: all where they are few. */
export function firstArms(
  { arms, baseline }: Pick<Analysis, 'arms' | 'baseline'>,
  { goal }: Study['measure'],
): readonly string[] {
  const sign = goal === 'lower' ? 1 : -1
  const rank = (mean: number) => (Number.isFinite(mean) ? sign * mean : Number.POSITIVE_INFINITY)
  const best = arms
    .filter(({ arm }) => arm.name !== baseline)
    // Two infinite ranks have no difference.
    .toSorted((a, b) => rank(a.mean) - rank(b.mean) || 0)
    .map(({ arm }) => arm.name)
  const shown = new Set([baseline, ...best.slice(0, MOST_LINES - 1)])
  return arms.map(({ arm }) => arm.name).filter((name) => shown.has(name))
}

/** The look of each drawn arm, the same on all figures: no two have one colour. */
export function looksOf(
  { arms }: Pick<Analysis, 'arms'>,
  chosen: readonly string[],
): ReadonlyMap<string, ReturnType<typeof runColor>> {
  const places = arms.flatMap(({ arm }, i) => (chosen.includes(arm.name) ? [i] : []))
  const colors = distinctColors(places.map((i) => i % MOST_LINES))
  return new Map(places.map((i, k) => [arms[i].arm.name, runColor(colors[k])]))
}

interface ArmChoiceProps {
  readonly analysis: Analysis
  readonly chosen: readonly string[]
  onChoose(chosen: readonly string[]): void
}

/** Nothing where all arms are drawn. */
export function ArmChoice({ analysis, chosen, onChoose }: ArmChoiceProps) {
  const names = analysis.arms.map(({ arm }) => arm.name)
  if (names.length <= MOST_LINES) return null
  const looks = looksOf(analysis, chosen)
  const isFull = chosen.length >= MOST_LINES
  const toggled = (name: string) =>
    chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]
  return (
    <fieldset className="arm-choice" data-testid="study-arm-choice">
      <legend>Arms in the curves below</legend>
      <p className="soft">
        {chosen.length} of {names.length} are drawn, at most {MOST_LINES}: more cannot be told
        apart. At first they are the baseline and those with the best means.
      </p>
      {names.map((name) => {
        const look = looks.get(name)
        return (
          <label key={name}>
            <input
              type="checkbox"
              checked={look !== undefined}
              disabled={look === undefined ? isFull : chosen.length === 1}
              onChange={() => onChoose(toggled(name))}
            />
            {look ? <LineMark {...look} /> : null}
            <span>{name}</span>
          </label>
        )
      })}
    </fieldset>
  )
}
