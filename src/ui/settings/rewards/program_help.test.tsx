import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { NewProgram } from './Program.tsx'
import { REWARD_STARTS } from './reward_starts.ts'

test('a program in JavaScript is not said to work in verl; one in Python is', () => {
  const shown = renderToStaticMarkup(
    <NewProgram stem="reward" starts={REWARD_STARTS} onUse={async () => {}} onCancel={() => {}} />,
  )
  // JavaScript is chosen at first.
  expect(shown).toContain(REWARD_STARTS.js.help)
  expect(shown).not.toMatch(/verl|TRL|OpenRLHF/)
  expect(REWARD_STARTS.py.help).toMatch(/as verl, TRL or OpenRLHF call it/)
})
