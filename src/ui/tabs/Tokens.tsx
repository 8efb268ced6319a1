// Responses token by token.
import { Inspector } from '../inspector/Inspector.tsx'
import { Stages } from '../panels/Stages.tsx'

export default function Tokens() {
  return (
    <>
      <Inspector />
      <Stages />
    </>
  )
}
