"""Writes a file of places as its publishers do: FILE, 4 or 6, the kind, when it was made, the name of the German city."""

import sys

import mmdb_writer
from netaddr import IPSet

path, version, kind, made, city = sys.argv[1:]
mmdb_writer.time.time = lambda: int(made)
writer = mmdb_writer.MMDBWriter(
    ip_version=int(version), ipv4_compatible=version == "6", database_type=kind, languages=["de", "en"],
    description="places of a test")


def country(code, name):
    return {"country": {"iso_code": code, "names": {"de": "deutsch", "en": name}}}


writer.insert_network(
    IPSet(["192.0.2.0/24"]),
    country("DE", "Germany") | {
        "city": {"names": {"de": "deutsch", "en": city}},
        "subdivisions": [{"iso_code": "BY", "names": {"en": "Bavaria"}}, {"names": {"en": "a smaller part"}}],
    })
writer.insert_network(IPSet(["198.51.100.0/24"]), country("FR", "France"))
# Known, and in no country; and entries that are not formed as they should be.
writer.insert_network(IPSet(["203.0.113.0/25"]), {"continent": {"code": "EU"}})
writer.insert_network(IPSet(["203.0.113.128/26"]), {"country": "DE"})
writer.insert_network(IPSet(["203.0.113.192/26"]), {"country": {"iso_code": 7, "names": ["en"]}})
writer.insert_network(IPSet(["10.0.0.0/8", "127.0.0.0/8"]), country("US", "an office"))
if version == "6":
    writer.insert_network(IPSet(["2001:db8::/32"]), country("JP", "Japan") | {"city": {"names": {"en": "Tōkyō"}}})
    writer.insert_network(IPSet(["fd00::/8"]), country("US", "an office"))
writer.to_db_file(path)
