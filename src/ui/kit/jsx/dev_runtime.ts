// Makes every element while the page is developed or tested, as runtime.ts does.
import type { ElementType, Key, ReactElement } from 'react'
import { type JSXSource, jsxDEV as plainJsx } from 'react/jsx-dev-runtime'
import { type Props, translated } from '../translator.ts'

export { Fragment, type JSX } from 'react/jsx-dev-runtime'

export const jsxDEV = (
  ...[type, props, ...others]: [
    type: ElementType,
    props: Props,
    key: Key | undefined,
    isStatic: boolean,
    source?: JSXSource,
    self?: unknown,
  ]
): ReactElement => plainJsx(type, translated(type, props), ...others)
