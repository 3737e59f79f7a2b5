"""The promises of ``mnemos.storage.base`` as tests that any engine must pass.

The tests use only the Protocols. A subclass says how the engine is opened::

    class TestMyEngine(StorageContract):
        @pytest.fixture
        def open_storage(self, tmp_path):
            opened = []

            def open_it(space="default", *, read_only=False):
                opened.append(MyStorage(tmp_path, space=space, read_only=read_only))
                return opened[-1]

            yield open_it
            for storage in opened:
                storage.close()

and may set:

- ``several_openers``: False if the data can be opened only once, which skips the tests that need more;
- ``restorable``: False if a backup cannot be restored;
- ``counts_by_space``: True if ids of facts, scopes and entries are counted in each space, from 1;
- ``seams``: the positions at which the engine splits long texts, for the tests to look there.
"""

from __future__ import annotations

from contract.storage.audit import AuditContract
from contract.storage.concurrency import ConcurrencyContract
from contract.storage.entries import EntryContract
from contract.storage.facts import FactContract
from contract.storage.filters import FilterContract
from contract.storage.following import FollowingContract
from contract.storage.freshness import FreshnessContract
from contract.storage.imports import ImportContract
from contract.storage.limits import LimitContract
from contract.storage.messages import MessageContract
from contract.storage.models import ModelContract
from contract.storage.namespaces import NamespaceContract
from contract.storage.nearness import NearnessContract
from contract.storage.openers import Opener
from contract.storage.order import OrderContract
from contract.storage.ownership import OwnershipContract
from contract.storage.passages import PassageContract
from contract.storage.proposals import ProposalContract
from contract.storage.recalls import RecallContract
from contract.storage.removal import RemovalContract
from contract.storage.restoration import RestoreContract
from contract.storage.roundtrip import RoundTripContract
from contract.storage.scopes import ScopeContract
from contract.storage.sessions import SessionContract
from contract.storage.spaces import SpaceContract
from contract.storage.strips import StripContract
from contract.storage.tombstones import TombstoneContract
from contract.storage.transactions import TransactionContract
from contract.storage.upkeep import UpkeepContract
from contract.storage.vectors import VectorContract
from contract.storage.words import WordContract
from contract.storage.working_history import WorkingHistoryContract

__all__ = ["Opener", "StorageContract"]


class StorageContract(
    TransactionContract,
    SessionContract,
    MessageContract,
    WorkingHistoryContract,
    WordContract,
    FilterContract,
    FollowingContract,
    OwnershipContract,
    OrderContract,
    FreshnessContract,
    RemovalContract,
    AuditContract,
    RecallContract,
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
    NamespaceContract,
    ImportContract,
    RestoreContract,
    TombstoneContract,
):
    """All of the contract. Subclass it under a name that begins with ``Test``."""
