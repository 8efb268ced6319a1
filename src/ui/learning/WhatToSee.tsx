// What runs of the shown preset came to, and how to make one of them in a terminal.
import { Fragment } from 'react'
import type { LabState } from '../../lab/page/store.ts'
import { presetSeen } from '../../lab/presets/preset_seen.ts'
import { useShown } from '../base/shown.ts'

const selectPreset = (state: LabState) => state.preset_id

export function WhatToSee() {
  const { what_you_should_see, measured, command } = presetSeen(useShown(selectPreset))
  return (
    <>
      <p>{what_you_should_see}</p>
      <p>
        {measured === '' ? '' : `Measured: ${measured}. `}The same run in a terminal:{' '}
        <Command text={command} />
      </p>
    </>
  )
}

/** A line for a terminal; it breaks between words alone, and not behind their hyphens. */
function Command({ text }: { readonly text: string }) {
  return (
    <code data-testid="preset-command">
      {text.split(' ').map((word, i) => (
        <Fragment key={`${i} ${word}`}>
          {i > 0 ? ' ' : ''}
          <span>{word}</span>
        </Fragment>
      ))}
    </code>
  )
}
