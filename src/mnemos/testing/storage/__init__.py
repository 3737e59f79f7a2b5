"""What ``mnemos.storage.base`` promises, as tests that any engine must pass.

The tests know the Protocols and nothing of an engine. A subclass gives the fixture ``open_storage`` (see
``mnemos.testing``) and may set:

- ``several_openers``: whether the data can be opened twice at a time; if not, the tests that need it
  are skipped, with that reason;
- ``restorable``: whether a backup can be put back;
- ``seams``: where the engine cuts long texts, so that the tests look there.
"""

from __future__ import annotations

from mnemos.testing.storage.audit import AuditContract
from mnemos.testing.storage.concurrency import ConcurrencyContract
from mnemos.testing.storage.entries import EntryContract
from mnemos.testing.storage.facts import FactContract
from mnemos.testing.storage.filters import FilterContract
from mnemos.testing.storage.freshness import FreshnessContract
from mnemos.testing.storage.imports import ImportContract
from mnemos.testing.storage.limits import LimitContract
from mnemos.testing.storage.messages import MessageContract
from mnemos.testing.storage.models import ModelContract
from mnemos.testing.storage.nearness import NearnessContract
from mnemos.testing.storage.opening import Opener
from mnemos.testing.storage.order import OrderContract
from mnemos.testing.storage.passages import PassageContract
from mnemos.testing.storage.proposals import ProposalContract
from mnemos.testing.storage.removal import RemovalContract
from mnemos.testing.storage.restoring import RestoreContract
from mnemos.testing.storage.roundtrip import RoundTripContract
from mnemos.testing.storage.scopes import ScopeContract
from mnemos.testing.storage.sessions import SessionContract
from mnemos.testing.storage.spaces import SpaceContract
from mnemos.testing.storage.strips import StripContract
from mnemos.testing.storage.transactions import TransactionContract
from mnemos.testing.storage.upkeep import UpkeepContract
from mnemos.testing.storage.vectors import VectorContract
from mnemos.testing.storage.words import WordContract

__all__ = ["Opener", "StorageContract"]


class StorageContract(
    TransactionContract,
    SessionContract,
    MessageContract,
    WordContract,
    FilterContract,
    OrderContract,
    FreshnessContract,
    RemovalContract,
    AuditContract,
    SpaceContract,
    ConcurrencyContract,
    LimitContract,
    RoundTripContract,
    UpkeepContract,
    PassageContract,
    ProposalContract,
    StripContract,
    VectorContract,
    ModelContract,
    NearnessContract,
    FactContract,
    ScopeContract,
    EntryContract,
    ImportContract,
    RestoreContract,
):
    """All of the contract. Subclass it under a name that begins with ``Test``."""
