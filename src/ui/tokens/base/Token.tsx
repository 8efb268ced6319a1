// Draws tokens of any vocabulary, so that a person can read them: signs for what cannot be seen, a
// frame around what is no text.
import { useMemo } from 'react'
import { isBytes, tokenSign, tokenTitle } from '../../../host/protocol/token_text.ts'
import { tokenId } from '../../../host/protocol/vocabulary.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'

/** How a token is drawn. */
export interface TokenLook {
  readonly sign: string
  /** `special-token`, `byte-token` or nothing. */
  readonly className: string
  /** Its text, bytes and id. */
  readonly title: string
}

/** How tokens of the shown vocabulary are drawn. */
export function useTokenLook(): (token: string) => TokenLook {
  const vocabulary = useVocabulary()
  return useMemo(
    () => (token) => {
      const isSpecial = vocabulary.special_tokens.has(token)
      return {
        sign: tokenSign(token),
        className: isSpecial ? 'special-token' : isBytes(token) ? 'byte-token' : '',
        title: tokenTitle(token, tokenId(vocabulary, token), isSpecial),
      }
    },
    [vocabulary],
  )
}

interface TokenProps {
  readonly token: string
  readonly className?: string
  /** It stands in a text that is read, as a story is: a space between words is a space. */
  readonly isRead?: boolean
}

/** One token by itself. */
export function Token({ token, className = '', isRead = false }: TokenProps) {
  const { sign, title, ...look } = useTokenLook()(token)
  return (
    <span className={`response ${look.className} ${className}`} title={title}>
      {isRead && token.startsWith(' ') ? sign.replace(/^./, ' ') : sign}
    </span>
  )
}
