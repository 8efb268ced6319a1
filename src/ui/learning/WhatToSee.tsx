// Says what a run of a preset looks like when all is well, and how to make the same run in a
// terminal.
import { Fragment } from 'react'
import { seenOf } from '../../document/presets/seen.ts'
import { Words } from '../glossary/Words.tsx'

export function WhatToSee({ id }: { readonly id: string }) {
  const seen = seenOf(id)
  if (!seen) return null
  return (
    <>
      <p>
        <Words text={seen.what_you_should_see} />
      </p>
      <details>
        <summary>How it was measured, and the same run in a terminal</summary>
        <p>
          {seen.measured === '' ? '' : `Measured: ${seen.measured}. `}The same run in a terminal:{' '}
          <Command text={seen.command} />
        </p>
      </details>
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
