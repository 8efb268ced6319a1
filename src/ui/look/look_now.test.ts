// Tests that a look says what it looks at while it does.
import { expect, test } from 'vitest'
import { lookNow, lookStore, selectLooking } from './look_now.ts'

test('a look says of which state it is until it is over', async () => {
  const said = async (...where: Parameters<typeof lookNow>[1][]) => {
    // Without a worker nothing is found.
    const over = lookNow('a', ...where)
    const words = selectLooking(lookStore.getState())
    lookStore.setState({ look: undefined })
    void over
    return words
  }
  expect(await said({ step: 45 })).toBe('Looking at the kept state of step 45 …')
  expect(await said('beginning')).toBe('Looking at the state before the first step …')
  expect(await said()).toBe('Looking at the last kept state …')
  expect(selectLooking(lookStore.getState())).toBeUndefined()
})
