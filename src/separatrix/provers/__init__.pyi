from separatrix.provers.proofs import Proved as Proved
from separatrix.provers.proofs import attempt as attempt
from separatrix.provers.proofs import prove as prove
from separatrix.provers.trained_lookup import Decided as Decided
from separatrix.provers.trained_lookup import LookupProver as LookupProver
from separatrix.provers.trained_lookup import Outcome as Outcome
from separatrix.provers.trained_words import UNIT as UNIT
from separatrix.provers.trained_words import WordsProver as WordsProver
