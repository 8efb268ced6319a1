// Draws a slider for the strength of a vector on a kept state: the held-out problems are answered
// again where it comes to rest.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import type { Steering, SteeringEffect } from '../../host/protocol/touch.ts'
import { formatNumber } from '../kit/format.ts'
import { keyOf, PROBLEMS, touch, touchStore } from './touch_store.ts'
import { effectName, effectSays, layerName } from './words/steer_words.ts'

const MOST = 8
const selectBusy = ({ busy }: ReturnType<typeof touchStore.getState>) => busy
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

interface Wanted {
  readonly layer: SteeringEffect['layer']
  readonly strength: number
}

function Answers({ effect, steering }: { effect: SteeringEffect; steering: Steering }) {
  return (
    <>
      <p data-testid="steering-trial-says">{effectSays(effect, steering.untouched)}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Problem</th>
            <th scope="col">without</th>
            <th scope="col">{effectName(effect)}</th>
          </tr>
        </thead>
        <tbody data-testid="steering-trial-answers">
          {effect.examples.map(({ prompt, before, after }) => (
            <tr key={prompt}>
              <td>
                <code>{prompt}</code>
              </td>
              <td>
                <code>{before}</code>
              </td>
              <td>
                <code>{after}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

export function SteeringTrial(props: { readonly record: string; readonly steering: Steering }) {
  const { record, steering } = props
  const layers = [...new Set(steering.effects.map(({ layer }) => layer))]
  const [layer, setLayer] = useState(layers[0])
  const [strength, setStrength] = useState(1)
  const [wanted, setWanted] = useState<Wanted>()
  const busy = useStore(touchStore, selectBusy)
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'steering trial'))
  const trial = found?.what === 'steering' && wanted ? found.steering : undefined
  useEffect(() => {
    if (!wanted || busy || wanted.strength === 0) return
    const last = touchStore.getState().found.get(keyOf(record, 'steering trial'))
    const [effect] = last?.what === 'steering' ? last.steering.effects : []
    if (effect?.layer === wanted.layer && effect.strength === wanted.strength) return
    if (touchStore.getState().problems.has(keyOf(record, 'steering trial'))) return
    const source = { from: 'file', name: 'the vectors', bytes: steering.file } as const
    const work = { what: 'steering', source, problems: PROBLEMS, seed: 1 } as const
    const only = { layers: [wanted.layer], strengths: [wanted.strength] }
    void touch(record, [steering.step], { ...work, ...only }, { as: 'steering trial' })
  }, [wanted, busy, record, steering])
  const rest = () => setWanted({ layer, strength })
  const [effect] = trial?.effects ?? []
  return (
    <div data-testid="steering-trial">
      <div className="touch-choices">
        <label>
          <span className="soft">Try</span>{' '}
          <select
            data-testid="steering-trial-layer"
            value={`${layer}`}
            onChange={({ target }) => {
              const next = layers.find((one) => `${one}` === target.value) ?? layers[0]
              setLayer(next)
              setWanted({ layer: next, strength })
            }}
          >
            {layers.map((one) => (
              <option key={one} value={`${one}`}>
                {layerName(one)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="soft">Strength</span>{' '}
          <input
            type="range"
            min={-MOST}
            max={MOST}
            step={0.25}
            value={strength}
            data-testid="steering-trial-strength"
            onChange={({ target }) => setStrength(Number(target.value))}
            onPointerUp={rest}
            onKeyUp={rest}
            onBlur={rest}
          />{' '}
          × {formatNumber(strength).replace('-', '−')}
        </label>
        <span role="status" className="soft">
          {busy ? 'Answering …' : ''}
        </span>
      </div>
      {trial && effect ? <Answers effect={effect} steering={trial} /> : null}
    </div>
  )
}
