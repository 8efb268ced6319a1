// Tests what a mouse and what a finger point at.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pointing } from './pointing.ts'

/** Taps anywhere in the page. */
let taps: EventTarget

beforeEach(() => {
  taps = new EventTarget()
  vi.stubGlobal('document', taps)
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function place() {
  const said: string[] = []
  const own = pointing(
    () => said.push('reads'),
    () => said.push('leaves'),
  )
  const currentTarget = { contains: (target: unknown) => target === taps && isInside }
  let isInside = true
  const event = (pointerType: string, clientX = 0, clientY = 0) =>
    ({ pointerType, clientX, clientY, currentTarget }) as never
  const tap = (inside: boolean) => {
    isInside = inside
    taps.dispatchEvent(new Event('click'))
  }
  return { said, own, event, tap }
}

test('a mouse reads while it is over a place', () => {
  const { said, own, event, tap } = place()
  own.onPointerMove(event('mouse'))
  own.onPointerDown(event('mouse'))
  own.onPointerUp(event('mouse'))
  own.onPointerLeave(event('mouse'))
  tap(false)
  expect(said).toEqual(['reads', 'leaves'])
})

test('what a finger tapped stays until the next tap elsewhere', () => {
  const { said, own, event, tap } = place()
  own.onPointerDown(event('touch'))
  own.onPointerUp(event('touch'))
  own.onPointerLeave(event('touch'))
  tap(true)
  expect(said).toEqual(['reads'])
  tap(false)
  tap(false)
  expect(said).toEqual(['reads', 'leaves'])
})

test('a finger that scrolls the page reads nothing and ends nothing', () => {
  const { said, own, event } = place()
  own.onPointerDown(event('touch'))
  own.onPointerUp(event('touch'))
  own.onPointerDown(event('touch'))
  own.onPointerMove(event('touch', 2, 20))
  own.onPointerCancel()
  own.onPointerLeave(event('touch'))
  expect(said).toEqual(['reads'])
})

test('a finger that goes along reads as it goes', () => {
  const { said, own, event } = place()
  own.onPointerDown(event('touch'))
  own.onPointerMove(event('touch', 20, 2))
  own.onPointerCancel()
  expect(said).toEqual(['reads', 'leaves'])
})
