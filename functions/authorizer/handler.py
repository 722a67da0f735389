"""Who asks: called by the API before every function."""

from tertulia.entrypoints.authorizer import Authorizer

handler = Authorizer()
