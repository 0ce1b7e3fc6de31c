"""Documents that mean the same: static embeddings in whole numbers, clusters, and the kept documents of each.

Vectors and centers are unit vectors of whole numbers. So short are they that every sum of a product of two is exact in
float32, in any order: results depend neither on batches nor on threads, nor on the library that multiplies.
"""
