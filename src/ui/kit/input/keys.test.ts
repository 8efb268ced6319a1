import { expect, test } from 'vitest'
import { keyCaps, keyWords, type Press, pressName } from './keys.ts'

const press = (key: string, held: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
})

test('presses have one name, with Ctrl and with ⌘', () => {
  expect(pressName(press('s'), false)).toBe('S')
  expect(pressName(press(' '), false)).toBe('Space')
  expect(pressName(press('?', { shiftKey: true }), false)).toBe('?')
  expect(pressName(press('z', { ctrlKey: true }), false)).toBe('Mod+Z')
  expect(pressName(press('Z', { ctrlKey: true, shiftKey: true }), false)).toBe('Mod+Shift+Z')
  expect(pressName(press('k', { metaKey: true }), true)).toBe('Mod+K')
  expect(pressName(press('End'), true)).toBe('End')
})

test('what belongs to the system has none', () => {
  expect(pressName(press('k', { metaKey: true }), false)).toBeUndefined()
  expect(pressName(press('k', { ctrlKey: true }), true)).toBeUndefined()
  expect(pressName(press('s', { altKey: true }), false)).toBeUndefined()
})

test('keys are written as the keyboard has them', () => {
  expect(keyCaps('Mod+Shift+Z', false)).toEqual([['Ctrl', 'Shift', 'Z']])
  expect(keyCaps('G L', true)).toEqual([['G'], ['L']])
  expect(keyWords('Mod+K', true)).toBe('⌘ K')
  expect(keyWords('G L', false)).toBe('G then L')
})
