import { expect, test } from 'vitest'
import { withFolder } from './library_path.mjs'

test('a folder of libraries is named once, however often a process starts itself again', () => {
  expect(withFolder(undefined, '/a')).toBe('/a')
  expect(withFolder('/b', '/a')).toBe('/b:/a')
  expect(withFolder('/b:/a', '/a')).toBe('/b:/a')
  expect(withFolder('/a', '/a')).toBe('/a')
})
